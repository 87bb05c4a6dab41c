/*
 * Capability "tmeter.tensor-analysis/1": reads the elements of parameters, buffers and
 * constants. The host streams them: files are mapped, every tensor is cut into parts, every part
 * into chunks, and a pool of threads (--threads) feeds the chunks of all analyses while they are in
 * the cache. Memory stays bounded for files of any size.
 *
 * For each tensor that an analysis wants, and each pass:
 *
 *   begin(part) → state   for every part, on any thread
 *   chunk(state, bytes)   its elements in order
 *   merge(state, other)   part 0 takes in part 1, then part 2, … always in this order
 *   end(state)            once: computes the values, or requests another pass
 * and, in the order of the tensors, while later ones may still be streamed:
 *   emit(state)           gives the values to the host
 *   release(state)        for every state, also after errors
 *
 * Only the tensor's shape decides the parts, never the number of threads: the same file gives
 * the same values on every machine with the same arithmetic.
 *
 * Only tensors that are their own canonical tensor (graph.h) are streamed, and only those whose
 * bytes are in the file; for the others `tmeter.host.tensor-data/1` gives the reason (tensor_data.h).
 */
#ifndef TMETER_ABI_TENSOR_ANALYSIS_H
#define TMETER_ABI_TENSOR_ANALYSIS_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_TENSOR_ANALYSIS "tmeter.tensor-analysis/1"

/* The part a state belongs to. Lives until the function that receives it returns; pointers in it have
 * their own lifetimes. */
typedef struct tmeter_tensor_part { /* growable; the host fills it */
  uint32_t struct_size;
  int32_t pass; /* 0, 1, … */
  const tmeter_tensor *tensor; /* lives with the graph */
  int64_t first, count; /* the elements of this state, in row-major order */
  const void *earlier;  /* this tensor's state after the previous pass, read-only; null in pass 0 */
} tmeter_tensor_part;

/* Elements [first, first + count) of a tensor in row-major order for any strides, aligned to
 * the size of an element and little-endian. A chunk holds whole slices of dim 0 (rows), unless one
 * slice takes more than 4 MiB; then it begins at a multiple of 4,096 elements of the tensor. */
typedef struct tmeter_chunk { /* growable; the host fills it */
  uint32_t struct_size;
  uint32_t reserved;
  int64_t first, count; /* elements */
  tmeter_bytes bytes;   /* count elements; until `chunk` returns */
} tmeter_chunk;

/* A streamed analysis. Every function except `wants` is mandatory. */
typedef struct tmeter_tensor_analysis {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name;     /* for messages; one line */
  tmeter_str produced; /* metric ids it emits, separated by spaces */
  /* [serial] Non-zero: requests this tensor's elements. May be null: requests all tensors. An error text (`fail`)
   * is a failure. */
  int32_t(TMETER_ABI *wants)(tmeter_call *, const tmeter_tensor *, void *user);
  /* [any] Makes the state of a part. The value of *state on return goes to `release`, also after a
   * failure, unless it is still null. */
  tmeter_status(TMETER_ABI *begin)(tmeter_call *, const tmeter_tensor_part *, void **state,
                                   void *user);
  /* [any] The next elements of the part. */
  tmeter_status(TMETER_ABI *chunk)(tmeter_call *, void *state, const tmeter_chunk *,
                                   void *user);
  /* [any] `state` takes in `other`, the next part, which is released afterwards. */
  tmeter_status(TMETER_ABI *merge)(tmeter_call *, void *state, void *other,
                                   void *user);
  /* [any] The part is the whole tensor. Long work belongs here and may read the tensor again
   * through tensor_data.h. Sets *again to non-zero when another pass is needed; at most 8. */
  tmeter_status(TMETER_ABI *end)(tmeter_call *, const tmeter_tensor_part *, void *state,
                                 int32_t *again, void *user);
  /* [serial] Metrics (results), distributions and series may be emitted; findings too. Small
   * states keep memory low: release temporary data in `end`. */
  tmeter_status(TMETER_ABI *emit)(tmeter_call *, const tmeter_tensor *, void *state, void *user);
  void(TMETER_ABI *release)(void *state, void *user); /* [any] Releases a state; cannot fail */
  void *user;
} tmeter_tensor_analysis;

/* The table of "tmeter.tensor-analysis/1". */
typedef struct tmeter_tensor_analyses {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_tensor_analysis *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_tensor_analyses;

#ifdef __cplusplus
}
#endif
#endif
