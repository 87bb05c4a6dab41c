/*
 * The vocabulary of the tmeter plugin contract: strings, spans, status codes, numbers. C11 and C++17, no dependency beyond the C standard library.
 *
 * Three kinds of struct exist (docs/abi.md):
 *   frozen values   (tmeter_str, tmeter_number, …) never change and may sit in arrays;
 *   growable tables begin with `struct_size`, grow only at their end, and are passed by pointer;
 *   opaque handles  (tmeter_graph, tmeter_node, …) are accessible only as pointers.
 *
 * Thread tags used in comments: [main] the thread that called `init`; [serial] any thread, never
 * two at once for one plugin; [any] any thread, also at the same time.
 *
 * Unless a comment says otherwise: Handles, structs and output pointers are not null; a null one crashes, and
 * the plugin is blamed. A missing text or span is empty; one whose `ptr` is null is empty for any `len`.
 * A function writes its outputs if it returns TMETER_OK, and leaves them untouched otherwise. The caller sets `struct_size` of a struct for the callee to fill. Text that is not UTF-8, and
 * control characters in it, are escaped where they are stored ("\x1b"). docs/limits.md has the maximum
 * lengths and counts.
 *
 * Handles end with the call that received them. The host checks calls, builders and outputs before it
 * follows them: one that has ended, or a call on a thread other than its own, is refused with
 * TMETER_INVALID_ARGUMENT and, while the plugin is inside a callback, the plugin's failure. The node of an
 * event and the tensor whose elements are requested are looked up in the graph. Other handles are dereferenced
 * unchecked: a look-up for each operator would cost more than the function. A dangling one crashes, and the
 * plugin is blamed.
 *
 * Every callback of a plugin takes as its last argument the `user` pointer stored beside it, so that it
 * finds its state without globals.
 */
#ifndef TMETER_ABI_BASE_H
#define TMETER_ABI_BASE_H

#include <stddef.h>
#include <stdint.h>

/* The newest minor these headers describe. A plugin states its minimum in
 * `abi_minor_required` (entry.h). */
#define TMETER_ABI_MINOR 1

#if defined(_WIN32)
#define TMETER_ABI __cdecl
#define TMETER_EXPORT __declspec(dllexport)
#else
#define TMETER_ABI /* the calling convention of every function that crosses */
/* Before `tmeter_plugin_v1`: makes the symbol visible outside of its library. */
#define TMETER_EXPORT __attribute__((visibility("default")))
#endif

/* Structs grow at their end, so the other side's may be shorter than these headers say (it is older)
 * or longer (it is newer). These macros read its `struct_size`. All work in C and C++, for
 * members of every type: numbers, arrays, structs, pointers, functions.
 *
 *   TMETER_END_OF   bytes of a struct up to and with `member`
 *   TMETER_HAS      whether the struct at `ptr` has `member`, with any value, including
 *                   0
 *   TMETER_IS_SET   for pointers and functions: it has the member, and it is not null
 */
#define TMETER_END_OF(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
/* Non-zero: the struct is long enough to have `member`. */
#define TMETER_HAS(ptr, type, member) ((ptr)->struct_size >= TMETER_END_OF(type, member))
/* Non-zero: it has `member`, a pointer or function, and that is not null. */
#define TMETER_IS_SET(ptr, type, member) \
  (TMETER_HAS(ptr, type, member) && (ptr)->member != NULL)

#ifdef __cplusplus
extern "C" {
#endif

/* UTF-8 text of `len` bytes, not NUL-terminated; `ptr` may be null when `len` is 0. Borrowed: see the
 * function that returns it. Numbers in strings are written as in the locale "C", regardless of the user's. A
 * plugin never calls setlocale. */
typedef struct tmeter_str {
  const char *ptr; /* the first byte */
  size_t len;      /* bytes */
} tmeter_str;

/* Integers, mostly dims. Borrowed, like texts; `ptr` may be null when `len` is 0. */
typedef struct tmeter_i64_span {
  const int64_t *ptr; /* the first */
  size_t len;         /* the number; for dims: the rank */
} tmeter_i64_span;

/* Raw bytes. Borrowed, like texts; `ptr` may be null when `len` is 0. */
typedef struct tmeter_bytes {
  const uint8_t *ptr; /* the first */
  size_t len;         /* the number */
} tmeter_bytes;

/* The outcome of a call. Explain any other status than TMETER_OK and TMETER_UNSUPPORTED with
 * the call's `fail`. Unknown values mean "failed". */
typedef int32_t tmeter_status;
enum {
  TMETER_OK = 0,
  TMETER_UNSUPPORTED = 1,      /* "not mine": a normal answer, the next candidate is tried      */
  TMETER_INVALID_ARGUMENT = 2, /* the caller used the interface wrongly                         */
  TMETER_INTERNAL = 3,         /* a defect in the callee                                        */
  TMETER_BAD_MODEL = 4,        /* the model file is damaged, hostile or of an unknown version   */
  TMETER_REFUSED = 5,          /* readable, but only with the user's explicit trust             */
  TMETER_CANCELLED = 6,        /* the user asked to stop (`cancelled` of the call)              */
  TMETER_UNAVAILABLE = 7,      /* the machine or the profile does not have it; give the reason  */
  TMETER_CANNOT_RUN = 8,       /* the model could not be run (real or meta tensors)             */
  TMETER_IO = 9,               /* reading or writing a file failed                              */
  TMETER_BAD_USAGE = 10        /* the user's options do not fit this model                      */
};

/* One measured or computed value. `kind` determines which member is valid, or why neither is. A kind
 * that is unknown to a reader is read as UNKNOWN, never as a number: a later minor may use the bytes
 * of `i` and `f` differently, such as for integers beyond 63 bits. Until then such a value is a FLOAT. */
typedef struct tmeter_number {
  int32_t kind;   /* TMETER_NUMBER_…; decides the rest */
  uint32_t flags; /* TMETER_NUMBER_PARTIAL, … */
  int64_t i; /* value of INT; else 0 */
  double f;  /* value of FLOAT, finite; else 0 */
} tmeter_number;
enum {
  TMETER_NUMBER_NONE = 0,         /* the metric does not apply here                            */
  TMETER_NUMBER_INT = 1,          /* `i`                                                       */
  TMETER_NUMBER_FLOAT = 2,        /* `f`                                                       */
  TMETER_NUMBER_ZERO_BY_RULE = 3, /* 0, by a rule (a view, a mere copy of metadata)   */
  TMETER_NUMBER_UNKNOWN = 4,      /* no rule; must not be read as zero                         */
  TMETER_NUMBER_UNAVAILABLE = 5,  /* the machine cannot determine it                           */
  /* The value is part of that of an enclosing module call, which a module handler gave (op_handler.h);
   * also for a module all of whose calls are inside such calls. Only the host sets it. */
  TMETER_NUMBER_IN_MODULE = 6
};
/* Flags of a number; leave unknown ones as they are. */
enum {
  /* On a roll-up (or a plugin's own value): a part of it has no value. A sum or
   * maximum is then a lower bound, and a mean covers the rest. Roll-ups set it, and nothing else needs
   * to. A roll-up without any known value is UNKNOWN or UNAVAILABLE instead, never 0. */
  TMETER_NUMBER_PARTIAL = 1u,
  /* On a module call: a module handler gave the value, which covers everything inside. On a module:
   * each of its calls has such a value. Only the host sets it. */
  TMETER_NUMBER_BY_MODULE = 2u,
  /* On a module or the model, instead of PARTIAL: the value rests on an assumption that a warning names: data
   * decide a size or a branch, or the sizes break a condition of the program. It is not a bound. Only the host
   * sets it, at the end, so only report writers see it. */
  TMETER_NUMBER_ASSUMED = 4u
};

/* Tables of results. A row is the graph's index of an entity (`node_index`, …); read
 * it, do not count. A reader leaves out a metric on an unknown axis. */
enum {
  TMETER_AXIS_NODE = 0,        /* a row for each operator call            */
  TMETER_AXIS_MODULE_CALL = 1, /* for each call of a module               */
  TMETER_AXIS_MODULE = 2,      /* for each module, over all its calls     */
  TMETER_AXIS_TENSOR = 3,      /* for each parameter, buffer and constant */
  TMETER_AXIS_MODEL = 4        /* one row, 0                              */
};

/* Handles: owned by the host, valid until the call that received them returns, unless stated. */
typedef struct tmeter_call tmeter_call;               /* call.h: while the host is inside the plugin */
typedef struct tmeter_graph tmeter_graph;             /* graph.h: the model */
typedef struct tmeter_node tmeter_node;               /* graph.h: one operator call */
typedef struct tmeter_value tmeter_value;             /* graph.h: argument, result or constant */
typedef struct tmeter_module tmeter_module;           /* graph.h: a node of the module tree */
typedef struct tmeter_module_call tmeter_module_call; /* graph.h: one call of a module */
typedef struct tmeter_tensor tmeter_tensor;           /* graph.h: parameter, buffer or constant */
typedef struct tmeter_builder tmeter_builder;         /* builder.h: a graph being made */
typedef struct tmeter_source tmeter_source;           /* source.h: the model file */
typedef struct tmeter_request tmeter_request;         /* loader.h: the user's request */
typedef struct tmeter_report tmeter_report;           /* report.h: the finished report */
typedef struct tmeter_output tmeter_output;           /* report.h: the destination of a writer */

/* Operators. They live as long as the graph; `ptr` may be null when `len` is 0. */
typedef struct tmeter_node_span {
  const tmeter_node *const *ptr; /* the first */
  size_t len;                    /* the number */
} tmeter_node_span;

/* Values. They live as long as the graph; `ptr` may be null when `len` is 0. */
typedef struct tmeter_value_span {
  const tmeter_value *const *ptr; /* the first */
  size_t len;                     /* the number */
} tmeter_value_span;

#ifdef __cplusplus
}
#endif
#endif
