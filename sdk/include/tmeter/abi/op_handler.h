/*
 * Capability "tmeter.op-handler/1": what one operator costs under one metric; and
 * "tmeter.module-handler/1": the same for every call of a module type, replacing what is counted
 * inside it.
 *
 * Choice for a node: handlers for `ns::op.overload`, then `ns::op`, then `*`; within these the
 * higher priority first. TMETER_UNSUPPORTED passes to the next; when none answers the node is
 * unknown and listed. Two handlers with equal key and priority from different plugins are an error
 * naming both. Own plugins use priority 0.
 */
#ifndef TMETER_ABI_OP_HANDLER_H
#define TMETER_ABI_OP_HANDLER_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_OP_HANDLER "tmeter.op-handler/1"
#define TMETER_CAP_MODULE_HANDLER "tmeter.module-handler/1"

enum {
  TMETER_HANDLER_ZERO_BY_RULE = 1u /* always zero, `eval` is null */
};

typedef struct tmeter_op_handler {
  uint32_t struct_size;
  uint32_t flags;
  tmeter_str metric;
  tmeter_str op; /* "aten::conv2d", "aten::add.Tensor", "*" */
  int32_t priority;
  int32_t reserved;
  void *user; /* handed back to eval */
  tmeter_status(TMETER_ABI *eval)(tmeter_call *, const tmeter_node *, void *user);
} tmeter_op_handler;

typedef struct tmeter_op_handlers {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_op_handler *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_op_handlers;

typedef struct tmeter_module_handler {
  uint32_t struct_size;
  uint32_t flags;
  tmeter_str metric;
  tmeter_str type; /* qualified ("acme.nn.GatedMlp") or its last part ("GatedMlp") */
  int32_t priority;
  int32_t reserved;
  void *user;
  tmeter_status(TMETER_ABI *eval)(tmeter_call *, const tmeter_graph *, const tmeter_module_call *,
                                  void *user);
} tmeter_module_handler;

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
