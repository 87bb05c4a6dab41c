/*
 * DRAFT of capability "tmeter.advice/1": findings with evidence and expected gain.
 * A draft may change or vanish in any release; no host serves it yet.
 */
#ifndef TMETER_ABI_DRAFT_ADVICE_H
#define TMETER_ABI_DRAFT_ADVICE_H
#include "../graph.h"

#define TMETER_CAP_ADVICE "tmeter.advice/1"

typedef struct tmeter_advice {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name;
  tmeter_str required; /* metric ids separated by spaces */
  tmeter_status(TMETER_ABI *run)(tmeter_call *, const tmeter_graph *);
} tmeter_advice;

#endif
