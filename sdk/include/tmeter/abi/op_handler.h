/*
 * Capability "tmeter.op-handler/1": the cost of one operator under one metric; and
 * "tmeter.module-handler/1": the same for every call of a module type, replacing the values of
 * its operators.
 *
 * Choice for a node: handlers for `ns::op.overload`, then `ns::op`, then `*`; within these the
 * higher priority first. TMETER_UNSUPPORTED passes to the next; when none answers the node is
 * unknown and listed. Two handlers with equal key and priority from different plugins are an error
 * naming both. Own plugins use priority 0.
 *
 * Choice for a module call: handlers for its qualified type, then for the type's last part, then for
 * `*`; within these the higher priority first. A call whose handler gives a value is *answered* under
 * that metric, and everything inside it is *covered*: handlers of its operators and of its inner calls are not called,
 * and reading the metric there gives TMETER_NUMBER_IN_MODULE. Handlers of calls are called from the outside in, so
 * of nested calls the outermost answer counts. All module handlers of a metric are called
 * before the first read of the metric: values do not depend on the order of
 * plugins, metrics or reads. Two metrics whose module handlers need each other are an error naming
 * both.
 *
 * Metrics that are computed from others, operator by operator, find no values inside an answered
 * call. Their own module handlers *follow* those others and derive their value from the call's: FLOPs
 * from the call's MACs, energy from the call's MACs, operations and bytes. A metric without such a
 * handler is unknown there, never too small.
 *
 * A module handler may read other metrics at its call, which gives roll-ups of the inside, and its
 * own metric at the nodes inside: the cost of their operators without it (for a value such as "a
 * tenth of that", for a module with sparse weights).
 */
#ifndef TMETER_ABI_OP_HANDLER_H
#define TMETER_ABI_OP_HANDLER_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_OP_HANDLER "tmeter.op-handler/1"
#define TMETER_CAP_MODULE_HANDLER "tmeter.module-handler/1"

/* Flags of an operator handler. */
enum {
  TMETER_HANDLER_ZERO_BY_RULE = 1u, /* always zero, `eval` is null */
  /* The value depends only on the operator's signature: its name, its arguments and results (their
   * names, dtypes, dims, numbers, texts, and which of them are one tensor), the kinds of its stored
   * tensors and the bytes of encoded ones, the options and the hardware. The host may then call
   * once for all equal operators. A handler that reads more – the producer of an argument, the
   * module call, names and places, another node – is called for each operator: the host notices.
   * It cannot notice state kept between calls, which the handler promises not to keep. Other
   * metrics may be read at the node itself. A host without support for the flag calls the handler for each operator. */
  TMETER_HANDLER_BY_SIGNATURE = 2u
};

/* The cost of an operator under a metric. Texts live until `deinit`. */
typedef struct tmeter_op_handler {
  uint32_t struct_size;
  uint32_t flags;    /* TMETER_HANDLER_… */
  tmeter_str metric; /* id of a metric of this or another loaded plugin; another id is an error */
  tmeter_str op;     /* "aten::conv2d", "aten::add.Tensor", "*" */
  int32_t priority;  /* the higher is called first */
  int32_t reserved;
  void *user; /* passed to eval */
  /* [serial] Computes the value of one node and gives it to `emit` (metric.h), or returns
   * TMETER_UNSUPPORTED: then the next handler is called. TMETER_OK without a value is an error. */
  tmeter_status(TMETER_ABI *eval)(tmeter_call *, const tmeter_node *, void *user);
} tmeter_op_handler;

/* The table of "tmeter.op-handler/1". */
typedef struct tmeter_op_handlers {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_op_handler *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_op_handlers;

/* The cost of a call of a module type under a metric. Texts live until `deinit`. */
typedef struct tmeter_module_handler {
  uint32_t struct_size;
  uint32_t flags;    /* 0: no flags are defined */
  tmeter_str metric; /* id, as above */
  tmeter_str type;   /* qualified ("acme.nn.GatedMlp") or its last part ("GatedMlp"), or "*" */
  int32_t priority;  /* the higher is called first */
  int32_t reserved;
  void *user;
  /* [serial] As for operators: one value for the call and everything inside, or TMETER_UNSUPPORTED. */
  tmeter_status(TMETER_ABI *eval)(tmeter_call *, const tmeter_graph *, const tmeter_module_call *,
                                  void *user);
  /* Metric ids separated by spaces: called only for calls answered under one of them.
   * Empty: all calls of the type. */
  tmeter_str follows;
} tmeter_module_handler;

/* The table of "tmeter.module-handler/1". */
typedef struct tmeter_module_handlers {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_module_handler *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_module_handlers;

#ifdef __cplusplus
}
#endif
#endif
