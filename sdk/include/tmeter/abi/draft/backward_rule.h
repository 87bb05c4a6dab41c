/*
 * DRAFT: may change or be removed, and has an id of its own until it is final (docs/abi.md, rule 5).
 *
 * Capability "tmeter.backward-rule/0.1": the cost of an in-house operator's backward, so that the cost of a
 * training step covers it; and the host interface "tmeter.host.backward-rules/0.1", through which plugins that compute
 * such costs call the rules. Without a rule, training costs of such an operator are unknown.
 *
 * Bits represent arguments or results in the order of the node: bit 0 is argument 0. Those after bit 63 are never kept.
 */
#ifndef TMETER_ABI_DRAFT_BACKWARD_RULE_H
#define TMETER_ABI_DRAFT_BACKWARD_RULE_H
#include "../base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_BACKWARD_RULE "tmeter.backward-rule/0.1"
#define TMETER_HOST_BACKWARD_RULES "tmeter.host.backward-rules/0.1"

/* One call of the operator. The rule reads `wanted` and fills in the rest, which is 0. */
typedef struct tmeter_backward { /* growable; the host makes it */
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t wanted;          /* arguments whose gradient is needed; a list counts when any item's is */
  int64_t macs;             /* multiply-accumulates of the backward; 0 or more */
  int64_t kept_bytes;       /* kept by the kernel in addition to arguments and results: masks, statistics */
  uint64_t keeps_arguments; /* arguments that are kept for the backward; a list with all its items */
  uint64_t keeps_results;   /* results that are kept, in the same way */
} tmeter_backward;

/* The rule of one operator. */
typedef struct tmeter_backward_rule {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str op; /* "acme::gated_mlp"; or a single overload, "acme::gated_mlp.out" */
  /* [serial] TMETER_UNSUPPORTED: no rule for this call; its training costs are then unknown. Negative amounts, and bits of
   * arguments and results that the node does not have, are failures of the plugin. */
  tmeter_status(TMETER_ABI *work)(tmeter_call *, const tmeter_node *, tmeter_backward *, void *user);
  void *user;
} tmeter_backward_rule;

/* The table of "tmeter.backward-rule/0.1". */
typedef struct tmeter_backward_rules {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_backward_rule *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_backward_rules;

/* [serial] In handlers and analyses. */
typedef struct tmeter_backward_rules_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Calls the rule of an open plugin for the node's operator. The host opens a plugin when a model has an operator
   * with one of its rules. The caller sets `struct_size` and `wanted`. TMETER_UNSUPPORTED: there is no rule,
   * or it declines. If two plugins have a rule for one operator, that is an error that names both. */
  tmeter_status(TMETER_ABI *ask)(tmeter_call *, const tmeter_node *, tmeter_backward *);
} tmeter_backward_rules_api;

#ifdef __cplusplus
}
#endif
#endif
