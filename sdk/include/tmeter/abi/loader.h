/*
 * Capability "tmeter.loader/1": reads one kind of model file.
 *
 * A loader says by data which files it wants (`matches`), so that the host can choose from the
 * sidecar manifest without opening the library. The loader with the highest score is opened and
 * asked to `load`; TMETER_UNSUPPORTED passes the file to the next one.
 *
 * A match is a list of conditions separated by spaces, all of which must hold:
 *   zip:GLOB     some archive entry matches (`*` also crosses '/')     !zip:GLOB  none does
 *   magic:HEX    the file begins with these bytes                      name:GLOB  the file name
 *   at:N:HEX     these bytes lie at byte N (decimal) of the file
 * A condition of a kind that the host does not know does not hold.
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

typedef struct tmeter_match { /* frozen */
  tmeter_str conditions;
  int32_t score; /* 1…100 */
  int32_t reserved;
} tmeter_match;

enum {
  TMETER_INPUT_TENSOR = 0,
  TMETER_INPUT_LIST = 1,
  TMETER_INPUT_TUPLE = 2,
  TMETER_INPUT_VALUE = 3 /* no tensor: a number, true, false or none, in `value` */
};

/* A list or tuple with `items` = n is followed by its n items, each of which may be one itself. */
typedef struct tmeter_input_spec { /* growable; the host fills it */
  uint32_t struct_size;
  int32_t dtype;    /* TMETER_DTYPE_UNDEFINED when the user named none */
  tmeter_str name;  /* empty: by position, or an item */
  tmeter_str text;  /* as the user wrote it, for messages */
  tmeter_i64_span dims;
  int32_t form; /* TMETER_INPUT_… */
  uint32_t items;
  tmeter_str value;
} tmeter_input_spec;

/* What the user asked for beside the file: host interface "tmeter.host.request/1", [any]. */
typedef struct tmeter_request_api {
  uint32_t struct_size;
  uint32_t reserved;
  const tmeter_source *(TMETER_ABI *source)(const tmeter_request *);
  int32_t(TMETER_ABI *trusted)(const tmeter_request *); /* --trust */
  size_t(TMETER_ABI *input_count)(const tmeter_request *);
  tmeter_status(TMETER_ABI *input_at)(const tmeter_request *, size_t, tmeter_input_spec *out);
} tmeter_request_api;

typedef struct tmeter_loader {
  uint32_t struct_size;
  uint32_t match_count;
  tmeter_str name; /* "pt2" */
  tmeter_str title; /* "torch.export archive" */
  const tmeter_match *matches;
  /* [serial] Pushes the model into the builder. */
  tmeter_status(TMETER_ABI *load)(tmeter_call *, const tmeter_request *, tmeter_builder *,
                                  void *user);
  void *user;
  /* What runs code with values that the file chooses: "LibTorch" for TorchScript. Messages name it,
   * and it is given a time limit (--timeout, 60 s unless the user says otherwise). Empty for a
   * format that is only read. */
  tmeter_str engine;
} tmeter_loader;

typedef struct tmeter_loaders {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_loader *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_loaders;

#ifdef __cplusplus
}
#endif
#endif
