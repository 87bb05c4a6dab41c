/*
 * DRAFT of capability "tmeter.observer/1": events of a real run.
 * A draft may change or vanish in any release; no host serves it yet.
 */
#ifndef TMETER_ABI_DRAFT_OBSERVER_H
#define TMETER_ABI_DRAFT_OBSERVER_H
#include "../graph.h"

#define TMETER_CAP_OBSERVER "tmeter.observer/1"

enum {
  TMETER_EVENT_RUN_BEGIN = 0,
  TMETER_EVENT_RUN_END = 1,
  TMETER_EVENT_OP_BEGIN = 2,
  TMETER_EVENT_OP_END = 3,
  TMETER_EVENT_ALLOCATE = 4,
  TMETER_EVENT_FREE = 5,
  TMETER_EVENT_SAMPLE = 6
};

typedef struct tmeter_event {
  uint32_t struct_size;
  int32_t kind;
  uint64_t nanoseconds; /* monotonic */
  const tmeter_node *node;
  int64_t bytes;
} tmeter_event;

typedef struct tmeter_observer {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_status(TMETER_ABI *event)(tmeter_call *, const tmeter_event *);
} tmeter_observer;

#endif
