/*
 * DRAFT: may change or be removed, and has an id of its own until it is final (docs/abi.md, rule 5).
 *
 * Capability "tmeter.decoder/0.1": the elements of encoded tensors. A loader describes the storage of a tensor
 * (`encoding` of tmeter_tensor_desc, builder.h): by an id such as "ggml.q4_k", the bytes of its blocks, and
 * the other stored tensors that belong to it. A decoder turns them into float32, in row-major order of the
 * tensor's dims. So analyses of elements see an encoded tensor as one of float32.
 *
 *   open(stored) → state     once for a tensor, before anything else
 *   decode(state, first, n)  any range, in any order, on many threads at once
 *   close(state)             when the run ends
 *
 * The plugin that lists an encoding's id decodes it; two such plugins are an
 * error that names both. An encoding without a decoder keeps its name, shape and bytes, and its elements are
 * unavailable.
 */
#ifndef TMETER_ABI_DRAFT_DECODER_H
#define TMETER_ABI_DRAFT_DECODER_H
#include "../base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_DECODER "tmeter.decoder/0.1"

/* Flags of a decoder. A host ignores unknown flags. */
enum {
  /* The blocks are in the file in the row-major order of their elements, without gaps. So the host can advise
   * the system which pages are needed next, and release the others: large tensors then take little memory. */
  TMETER_DECODER_IN_ORDER = 1u
};

/* An encoded tensor: its graph entry (`tensor_storage`, `tensor_part_at`), and its bytes. The host
 * fills it. All in it lives until `close`. */
typedef struct tmeter_stored_tensor {
  uint32_t struct_size;
  uint32_t part_count;         /* number of parts, as in the graph */
  const tmeter_tensor *tensor;
  tmeter_bytes bytes;          /* its own storage, without alignment */
  const tmeter_bytes *parts;   /* the bytes of each part, in order, without alignment */
} tmeter_stored_tensor;

/* A decoder. Every function is mandatory. The data is untrusted: bytes and parts are inside the file, and
 * nothing else is checked. */
typedef struct tmeter_decoder {
  uint32_t struct_size;
  uint32_t flags;       /* TMETER_DECODER_… */
  tmeter_str encodings; /* ids it decodes, separated by spaces: lower-case letters, digits, '.', '_' and '-' */
  /* [any] Checks dims, parameters and sizes, and makes what `decode` needs; *state may stay null.
   * TMETER_UNAVAILABLE: the elements cannot be decoded. The text of `fail` completes "the
   * elements of this tensor cannot be read: …". So does that of every other status except TMETER_OK, unless
   * the status blames the plugin (TMETER_INTERNAL, TMETER_INVALID_ARGUMENT). */
  tmeter_status(TMETER_ABI *open)(tmeter_call *, const tmeter_stored_tensor *, void **state,
                                  void *user);
  /* [any] Also at the same time for one state, which it must not change. Writes elements [first, first +
   * count) into `out`. Both are multiples of the block's elements (1 when the tensor has none), unless the
   * range ends with the tensor; count is 1 or more. */
  tmeter_status(TMETER_ABI *decode)(tmeter_call *, const void *state, int64_t first, int64_t count,
                                    float *out, void *user);
  void(TMETER_ABI *close)(void *state, void *user); /* [any] Releases a state; cannot fail */
  void *user;
} tmeter_decoder;

/* The table of "tmeter.decoder/0.1". */
typedef struct tmeter_decoders {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_decoder *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_decoders;

#ifdef __cplusplus
}
#endif
#endif
