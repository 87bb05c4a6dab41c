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
 * Choice for a module call: handlers for its qualified type, then for the last part of that, then for
 * `*`; within these the higher priority first. A call whose handler gives a value is *answered* under
 * that metric, and all inside it is *covered*: handlers of its operators and of the calls it makes are not called,
 * and reading the metric there gives TMETER_NUMBER_IN_MODULE. Handlers of calls are called from the outside in, so
 * of nested calls the outermost answer counts. All module handlers of a metric are called
 * before the first read of the metric: values do not depend on the order of
 * plugins, metrics or reads. Two metrics whose module handlers need each other are an error naming
 * both.
 *
 * Metrics that are computed from others, operator by operator, find no values inside an answered
 * call. Their own module handlers *follow* those others and derive their value from the call's: FLOPs
 * from the call's MACs, energy from the call's MACs, operations and bytes. A metric without such a
 * handler is unknown in there, never too small.
 *
 * A module handler may read other metrics at its call, which gives what is inside rolled up, and its
 * own metric at the nodes inside: what their operators cost without it (for a value such as "a
 * tenth of that", of a module whose weights are sparse).
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
  /* The value follows from the operator's signature alone: its name, its arguments and results (their
   * names, dtypes, dims, numbers, texts, and which of them are one tensor), what kind of stored tensors
   * they are and how many bytes encoded ones take, the options and the hardware. The host may then call once for all equal operators.
   * A handler that nevertheless looks further – at who made an argument, at the module call, at names
   * and places, at another node – is called for each: the host notices. It cannot notice state kept
   * between calls, which the handler promises not to keep. Other metrics may be read at
   * the node itself. A host that does not know the flag calls the handler for each operator. */
  TMETER_HANDLER_BY_SIGNATURE = 2u
};

/* The cost of an operator under a metric. Texts live until `deinit`. */
typedef struct tmeter_op_handler {
  uint32_t struct_size;
  uint32_t flags;    /* TMETER_HANDLER_… */
  tmeter_str metric; /* id, of this plugin or another; one that no loaded plugin has is an error */
  tmeter_str op;     /* "aten::conv2d", "aten::add.Tensor", "*" */
  int32_t priority;  /* the higher is called first */
  int32_t reserved;
  void *user; /* handed back to eval */
  /* [serial] Computes the value of one node and gives it to `emit` (metric.h), or returns
   * TMETER_UNSUPPORTED: then the next handler is called. TMETER_OK without a value is an error. */
  tmeter_status(TMETER_ABI *eval)(tmeter_call *, const tmeter_node *, void *user);
} tmeter_op_handler;

/* What "tmeter.op-handler/1" gives. */
typedef struct tmeter_op_handlers {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_op_handler *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_op_handlers;

/* The cost of a call of a module type under a metric. Texts live until `deinit`. */
typedef struct tmeter_module_handler {
  uint32_t struct_size;
  uint32_t flags;    /* none are known: 0 */
  tmeter_str metric; /* id, as above */
  tmeter_str type;   /* qualified ("acme.nn.GatedMlp") or its last part ("GatedMlp"), or "*" */
  int32_t priority;  /* the higher is called first */
  int32_t reserved;
  void *user;
  /* [serial] As for operators: one value for the call, and all inside it, or TMETER_UNSUPPORTED. */
  tmeter_status(TMETER_ABI *eval)(tmeter_call *, const tmeter_graph *, const tmeter_module_call *,
                                  void *user);
  /* Metric ids separated by spaces: called only for calls answered under one of them.
   * Empty: all calls of the type. */
  tmeter_str follows;
} tmeter_module_handler;

/* What "tmeter.module-handler/1" gives. */
typedef struct tmeter_module_handlers {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_module_handler *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_module_handlers;

#ifdef __cplusplus
}
#endif
#endif
