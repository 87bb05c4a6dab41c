/*
 * Capability "tmeter.loader/1": reads one kind of model file.
 *
 * A loader declares its files as data (`matches`), so that the host can choose from the
 * sidecar manifest without opening the library. The loader with the highest score is opened and
 * its `load` is called; TMETER_UNSUPPORTED passes the file to the next one.
 *
 * A match that holds for any file, or for any archive (`name:*`, `zip:*`, or only `!zip:GLOB`), comes after
 * all others regardless of its score, and a report notes that the model was read by it.
 *
 * A match is a list of conditions separated by spaces, all of which must hold:
 *   zip:GLOB     some archive entry matches (`*` also crosses '/')     !zip:GLOB  none does
 *   magic:HEX    the file begins with these bytes                      name:GLOB  the file name
 *   at:N:HEX     the file has these bytes at byte N (decimal)
 * A condition of a kind that is unknown to the host does not hold.
 */
#ifndef TMETER_ABI_LOADER_H
#define TMETER_ABI_LOADER_H
#include "base.h"
#include "builder.h"
#include "source.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_LOADER "tmeter.loader/1"
#define TMETER_HOST_REQUEST "tmeter.host.request/1"

/* A kind of file for a loader. */
typedef struct tmeter_match { /* frozen */
  tmeter_str conditions; /* separated by spaces; all must hold; an empty text never holds */
  int32_t score;         /* 1…100, else the plugin is refused; the highest is tried first */
  int32_t reserved;
} tmeter_match;

/* The kind of an input. */
enum {
  TMETER_INPUT_TENSOR = 0, /* described by `dims` and `dtype` */
  TMETER_INPUT_LIST = 1,   /* consists of the `items` that follow */
  TMETER_INPUT_TUPLE = 2,  /* likewise */
  TMETER_INPUT_VALUE = 3   /* not a tensor: a number, true, false or none, in `value` */
};

/* An input of --input. A list or tuple with `items` = n is followed by its n
 * items, each of which may be a list or tuple. Texts and dims live until the load returns. */
typedef struct tmeter_input_spec { /* growable; the host fills it */
  uint32_t struct_size;
  int32_t dtype;    /* TMETER_DTYPE_UNDEFINED: not given */
  tmeter_str name;  /* empty: by position, or an item */
  tmeter_str text;  /* the user's text, for messages */
  tmeter_i64_span dims; /* TENSOR; else empty */
  int32_t form;         /* TMETER_INPUT_… */
  uint32_t items;       /* LIST and TUPLE; else 0 */
  tmeter_str value;     /* VALUE: the user's text, "true"; else empty */
} tmeter_input_spec;

/* The user's request other than the file: host interface "tmeter.host.request/1", [any]. */
typedef struct tmeter_request_api {
  uint32_t struct_size;
  uint32_t reserved;
  const tmeter_source *(TMETER_ABI *source)(const tmeter_request *); /* the model file; never null */
  int32_t(TMETER_ABI *trusted)(const tmeter_request *);    /* non-zero: with --trust */
  size_t(TMETER_ABI *input_count)(const tmeter_request *); /* includes items of lists and tuples */
  /* TMETER_INVALID_ARGUMENT, without an error text, for an index that is not below the count or a
   * struct smaller than in 1.0. Set `struct_size` before. */
  tmeter_status(TMETER_ABI *input_at)(const tmeter_request *, size_t, tmeter_input_spec *out);
} tmeter_request_api;

/* A loader. All it points to lives until `deinit`. */
typedef struct tmeter_loader {
  uint32_t struct_size;
  uint32_t match_count; /* number of `matches` */
  tmeter_str name;      /* "pt2"; unique in its plugin */
  tmeter_str title;     /* "torch.export archive": the kind of file in messages */
  const tmeter_match *matches; /* its files: any match suffices */
  /* [serial] Pushes the model into the builder, at least a root module. TMETER_UNSUPPORTED passes the file to
   * the next loader, and the builder's content is dropped. TMETER_OK after a refusal of the builder is the plugin's
   * failure. Request and builder end with the call. */
  tmeter_status(TMETER_ABI *load)(tmeter_call *, const tmeter_request *, tmeter_builder *,
                                  void *user);
  void *user;
  /* The engine that runs code from the file: "LibTorch" for TorchScript. Messages name it,
   * and it has a time limit (--timeout, 60 s by default). Empty for a
   * format that is only read. */
  tmeter_str engine;
} tmeter_loader;

/* The table of "tmeter.loader/1". */
typedef struct tmeter_loaders {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_loader *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_loaders;

#ifdef __cplusplus
}
#endif
#endif
