/*
 * DRAFT of capability "tmeter.executor/1": runs a graph on real or meta tensors, calling observers.
 * A draft may change or vanish in any release; no host serves it yet.
 */
#ifndef TMETER_ABI_DRAFT_EXECUTOR_H
#define TMETER_ABI_DRAFT_EXECUTOR_H
#include "../graph.h"

#define TMETER_CAP_EXECUTOR "tmeter.executor/1"

typedef struct tmeter_executor {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name;
  tmeter_status(TMETER_ABI *run)(tmeter_call *, const tmeter_graph *, int32_t repeats);
} tmeter_executor;

#endif
