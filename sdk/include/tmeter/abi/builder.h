/*
 * Building a graph: loaders push what they read, in execution order.
 *
 * Everything made has an id; 0 means "none". The host checks what it is given: ids must exist,
 * a value must be defined (an input, a bound tensor, a constant or the result of an earlier node)
 * before a node uses it, products of dims must fit 63 bits, and counts stay below the limits in
 * docs/limits.md. A violation sets the call's error, naming the node, and returns
 * TMETER_BAD_MODEL; the loader should return that status at once.
 *
 * Host interface "tmeter.host.builder/1", [serial]. Texts and arrays are copied.
 */
#ifndef TMETER_ABI_BUILDER_H
#define TMETER_ABI_BUILDER_H
#include "base.h"
#include "dtype.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_BUILDER "tmeter.host.builder/1"

typedef uint32_t tmeter_id;

/* A dim or size: `expr` = 0 → the integer `value`; else the expression decides and `value` is
 * ignored. Frozen. */
typedef struct tmeter_dim {
  int64_t value;
  tmeter_id expr;
  uint32_t reserved;
} tmeter_dim;

/* Operators of expressions over symbols; sympy's meaning (floor division rounds down). */
enum {
  TMETER_EXPR_ADD = 1,      /* n-ary  */
  TMETER_EXPR_MUL = 2,      /* n-ary  */
  TMETER_EXPR_POW = 3,      /* binary */
  TMETER_EXPR_FLOORDIV = 4, /* binary */
  TMETER_EXPR_MOD = 5,      /* binary */
  TMETER_EXPR_MAX = 6,      /* n-ary  */
  TMETER_EXPR_MIN = 7,      /* n-ary  */
  TMETER_EXPR_CEILDIV = 8,  /* binary */
  TMETER_EXPR_TRUEDIV = 9,  /* binary; must be exact, else the graph is refused */
  TMETER_EXPR_EQ = 10,      /* binary, 0 or 1; likewise below */
  TMETER_EXPR_NE = 11,
  TMETER_EXPR_LT = 12,
  TMETER_EXPR_LE = 13,
  TMETER_EXPR_GT = 14,
  TMETER_EXPR_GE = 15,
  TMETER_EXPR_WHERE = 16 /* condition, then, else */
};

typedef struct tmeter_tensor_desc { /* growable */
  uint32_t struct_size;
  int32_t kind;     /* TMETER_TENSOR_… */
  tmeter_str name;  /* fully qualified; unique */
  tmeter_id owner;  /* module */
  int32_t dtype;
  const int64_t *dims;
  const int64_t *strides; /* elements; null = contiguous */
  size_t rank;
  /* Tensors with equal non-empty storage keys share memory (tied when also equal in offset, dims
   * and strides). Empty: a storage of its own. */
  tmeter_str storage_key;
  int64_t storage_offset; /* elements */
  int64_t file_offset;    /* bytes, of the storage's first byte; -1: not in the file */
  int64_t storage_bytes;  /* in the file; 0 for weightless files */
  int32_t trainable;
  int32_t reserved;
  const tmeter_source *source; /* the file of `file_offset`; null: the model file itself */
} tmeter_tensor_desc;

typedef struct tmeter_arg { /* frozen */
  tmeter_str name;
  tmeter_id value;
  uint32_t reserved;
} tmeter_arg;

typedef struct tmeter_node_desc { /* growable */
  uint32_t struct_size;
  tmeter_id module_call;
  tmeter_str op;       /* "aten::conv2d" */
  tmeter_str overload; /* "" for the default */
  const tmeter_arg *args;
  size_t arg_count;
  const tmeter_id *results; /* values; list values stand for all their members */
  size_t result_count;
  tmeter_str location;
} tmeter_node_desc;

typedef struct tmeter_builder_api {
  uint32_t struct_size;
  uint32_t reserved;

  tmeter_status(TMETER_ABI *property)(tmeter_builder *, tmeter_str key, tmeter_str value);

  /* Symbols and expressions over them. */
  tmeter_status(TMETER_ABI *symbol)(tmeter_builder *, tmeter_str name, int64_t min, int64_t max,
                                    int64_t value, tmeter_id *out);
  tmeter_status(TMETER_ABI *expr_int)(tmeter_builder *, int64_t value, tmeter_id *out);
  tmeter_status(TMETER_ABI *expr_symbol)(tmeter_builder *, tmeter_id symbol, tmeter_id *out);
  tmeter_status(TMETER_ABI *expr)(tmeter_builder *, int32_t op, const tmeter_id *operands,
                                  size_t count, tmeter_id *out);

  /* Modules. `parent` 0 makes the root, once, first. `name` is the last part of the path. */
  tmeter_status(TMETER_ABI *module)(tmeter_builder *, tmeter_id parent, tmeter_str name,
                                    tmeter_str type, tmeter_id *out);
  tmeter_status(TMETER_ABI *module_attribute)(tmeter_builder *, tmeter_id module, tmeter_str name,
                                              tmeter_id value);
  /* One call of a module; `parent` 0 only for the root's call. */
  tmeter_status(TMETER_ABI *module_call)(tmeter_builder *, tmeter_id module, tmeter_id parent,
                                         tmeter_id *out);

  tmeter_status(TMETER_ABI *tensor)(tmeter_builder *, const tmeter_tensor_desc *, tmeter_id *out);

  /* Values. */
  tmeter_status(TMETER_ABI *value_none)(tmeter_builder *, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_tensor)(tmeter_builder *, int32_t dtype, const tmeter_dim *dims,
                                          size_t rank, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_bound)(tmeter_builder *, tmeter_id tensor, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_int)(tmeter_builder *, tmeter_dim value, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_float)(tmeter_builder *, double value, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_bool)(tmeter_builder *, int32_t value, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_text)(tmeter_builder *, tmeter_str value, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_dtype)(tmeter_builder *, int32_t dtype, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_other)(tmeter_builder *, tmeter_str text, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_list)(tmeter_builder *, const tmeter_id *items, size_t count,
                                        tmeter_id *out);

  /* `origin`: "recorded", "given", "inferred". Defines the value (all members of a list). */
  tmeter_status(TMETER_ABI *input)(tmeter_builder *, tmeter_str name, tmeter_str origin,
                                   tmeter_id value);
  tmeter_status(TMETER_ABI *output)(tmeter_builder *, tmeter_id value);

  tmeter_status(TMETER_ABI *node)(tmeter_builder *, const tmeter_node_desc *, tmeter_id *out);

  /* Says that the user wants the input `name`, a tensor pushed with the sizes recorded in the file,
   * with these dims instead, and that the file alone cannot tell what follows from them: the host
   * asks a propagator (propagator.h). The rank is that of the input. */
  tmeter_status(TMETER_ABI *want_input)(tmeter_builder *, tmeter_str name, const int64_t *dims,
                                        size_t rank);

  /* What the file calls the node, if it does: the name of its first result, "conv2d_1". */
  tmeter_status(TMETER_ABI *node_name)(tmeter_builder *, tmeter_id node, tmeter_str name);
} tmeter_builder_api;

#ifdef __cplusplus
}
#endif
#endif
