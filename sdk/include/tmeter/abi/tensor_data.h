/*
 * Elements of tensors, for work that needs them more than once or out of order. Streaming
 * (tensor_analysis.h) is faster; this is more flexible.
 *
 * Host interface "tmeter.host.tensor-data/1", [any] for different calls, in `end` of a tensor
 * analysis and in analyses.
 */
#ifndef TMETER_ABI_TENSOR_DATA_H
#define TMETER_ABI_TENSOR_DATA_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_TENSOR_DATA "tmeter.host.tensor-data/1"

/* The functions for elements out of order. */
typedef struct tmeter_tensor_data_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Why a tensor's elements cannot be read ("saved without weights"); empty if they can be. Lives
   * with the graph. */
  tmeter_str(TMETER_ABI *unavailable)(tmeter_call *, const tmeter_tensor *);
  /* Elements [first, first + count) in row-major order, aligned to the size of an element: a view
   * of the mapped file if the tensor is contiguous there, else copied into memory of the host
   * that lives until the next `view` of the same call. A copy takes at most 64 MiB.
   * TMETER_INVALID_ARGUMENT outside the tensor or above that limit, TMETER_UNAVAILABLE when
   * `unavailable` is not empty. */
  tmeter_status(TMETER_ABI *view)(tmeter_call *, const tmeter_tensor *, int64_t first,
                                  int64_t count, tmeter_bytes *out);
} tmeter_tensor_data_api;

#ifdef __cplusplus
}
#endif
#endif
