/*
 * DRAFT: may change or vanish, and has an id of its own until it is final (docs/abi.md, rule 5).
 *
 * Capability "tmeter.backward-rule/0.1": the cost of an in-house operator's backward, so that the cost of a
 * training step covers it; and the host interface "tmeter.host.backward-rules/0.1", by which a plugin that computes
 * such costs calls rules. Without a rule such an operator is unknown for training.
 *
 * Arguments and results are bits in the order of the node: argument 0 is bit 0. Those from the 64th on are never kept.
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
  int64_t kept_bytes;       /* kept by the kernel besides arguments and results: masks, statistics */
  uint64_t keeps_arguments; /* arguments that are kept for the backward; a list with all its items */
  uint64_t keeps_results;   /* results, likewise */
} tmeter_backward;

/* The rule of one operator. */
typedef struct tmeter_backward_rule {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str op; /* "acme::gated_mlp"; or of one overload alone, "acme::gated_mlp.out" */
  /* [serial] TMETER_UNSUPPORTED: no rule for this call, which is then unknown for training. Negative amounts, and bits of
   * arguments and results that the node does not have, are the plugin's failure. */
  tmeter_status(TMETER_ABI *work)(tmeter_call *, const tmeter_node *, tmeter_backward *, void *user);
  void *user;
} tmeter_backward_rule;

/* The table of "tmeter.backward-rule/0.1". */
typedef struct tmeter_backward_rules {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_backward_rule *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_backward_rules;

/* [serial] In handlers and analyses. */
typedef struct tmeter_backward_rules_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Calls the rule for the node's operator, of an open plugin. The host opens a plugin when a model has an operator
   * of its rules. `struct_size` and `wanted` are set by the caller. TMETER_UNSUPPORTED: there is no rule,
   * or it declines. Two plugins with a rule for one operator are an error that names both. */
  tmeter_status(TMETER_ABI *ask)(tmeter_call *, const tmeter_node *, tmeter_backward *);
} tmeter_backward_rules_api;

#ifdef __cplusplus
}
#endif
#endif
