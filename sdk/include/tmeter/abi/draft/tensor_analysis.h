/*
 * DRAFT of capability "tmeter.tensor-analysis/1": streamed parameter data. `begin` makes a state
 * for one part of a tensor, `chunk` sees its bytes in order, `merge` adds another state of the same
 * tensor, `end` emits and frees. Parts may be analysed on different threads.
 * A draft may change or vanish in any release; no host serves it yet.
 */
#ifndef TMETER_ABI_DRAFT_TENSOR_ANALYSIS_H
#define TMETER_ABI_DRAFT_TENSOR_ANALYSIS_H
#include "../graph.h"

#define TMETER_CAP_TENSOR_ANALYSIS "tmeter.tensor-analysis/1"

typedef struct tmeter_tensor_analysis {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name;
  tmeter_status(TMETER_ABI *begin)(tmeter_call *, const tmeter_tensor *, void **state);
  tmeter_status(TMETER_ABI *chunk)(tmeter_call *, void *state, tmeter_bytes elements);
  tmeter_status(TMETER_ABI *merge)(tmeter_call *, void *state, void *other); /* frees other */
  tmeter_status(TMETER_ABI *end)(tmeter_call *, void *state);                /* frees state */
} tmeter_tensor_analysis;

#endif
