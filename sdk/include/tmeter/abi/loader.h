/*
 * Capability "tmeter.loader/1": reads one kind of model file.
 *
 * A loader says by data which files it wants (`matches`), so that the host can choose from the
 * sidecar manifest without opening the library. The loader with the highest score is opened and
 * asked to `load`; TMETER_UNSUPPORTED passes the file to the next one.
 *
 * A match that holds for any file, or for any archive (`name:*`, `zip:*`, `!zip:GLOB` alone), comes after
 * all others, whatever its score, and a report tells when a loader read the model by it.
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

/* A kind of file that a loader wants. */
typedef struct tmeter_match { /* frozen */
  tmeter_str conditions; /* separated by spaces, all of which must hold; none at all never holds */
  int32_t score;         /* 1…100, else the plugin is refused; the highest is tried first */
  int32_t reserved;
} tmeter_match;

/* The kind of an input. */
enum {
  TMETER_INPUT_TENSOR = 0, /* of `dims` and `dtype` */
  TMETER_INPUT_LIST = 1,   /* of the `items` that follow */
  TMETER_INPUT_TUPLE = 2,  /* likewise */
  TMETER_INPUT_VALUE = 3   /* no tensor: a number, true, false or none, in `value` */
};

/* An input as the user describes it with --input. A list or tuple with `items` = n is followed by its n
 * items, each of which may be one itself. Texts and dims live until the load returns. */
typedef struct tmeter_input_spec { /* growable; the host fills it */
  uint32_t struct_size;
  int32_t dtype;    /* TMETER_DTYPE_UNDEFINED when the user named none */
  tmeter_str name;  /* empty: by position, or an item */
  tmeter_str text;  /* as the user wrote it, for messages */
  tmeter_i64_span dims; /* TENSOR; else empty */
  int32_t form;         /* TMETER_INPUT_… */
  uint32_t items;       /* LIST and TUPLE; else 0 */
  tmeter_str value;     /* VALUE: as the user wrote it, "true"; else empty */
} tmeter_input_spec;

/* What the user asked for beside the file: host interface "tmeter.host.request/1", [any]. */
typedef struct tmeter_request_api {
  uint32_t struct_size;
  uint32_t reserved;
  const tmeter_source *(TMETER_ABI *source)(const tmeter_request *); /* the model file; never null */
  int32_t(TMETER_ABI *trusted)(const tmeter_request *);    /* non-zero: the user said --trust */
  size_t(TMETER_ABI *input_count)(const tmeter_request *); /* items of lists and tuples too */
  /* TMETER_INVALID_ARGUMENT, without an error text, for an index that is not below the count or a
   * struct smaller than in 1.0. Set `struct_size` before. */
  tmeter_status(TMETER_ABI *input_at)(const tmeter_request *, size_t, tmeter_input_spec *out);
} tmeter_request_api;

/* A loader. All it points to lives until `deinit`. */
typedef struct tmeter_loader {
  uint32_t struct_size;
  uint32_t match_count; /* of `matches` */
  tmeter_str name;      /* "pt2"; one of its plugin's loaders has it */
  tmeter_str title;     /* "torch.export archive": what messages call such a file */
  const tmeter_match *matches; /* the files it reads: any match suffices */
  /* [serial] Pushes the model into the builder, a root module at least. TMETER_UNSUPPORTED passes the file to
   * the next loader, and the builder's content is dropped. TMETER_OK after a refusal of the builder is the plugin's
   * failure. Request and builder end with the call. */
  tmeter_status(TMETER_ABI *load)(tmeter_call *, const tmeter_request *, tmeter_builder *,
                                  void *user);
  void *user;
  /* What runs code with values that the file chooses: "LibTorch" for TorchScript. Messages name it,
   * and it is given a time limit (--timeout, 60 s unless the user says otherwise). Empty for a
   * format that is only read. */
  tmeter_str engine;
} tmeter_loader;

/* What "tmeter.loader/1" gives. */
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
