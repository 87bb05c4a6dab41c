/*
 * DRAFT: may change or vanish, and has an id of its own until it is final (docs/abi.md, rule 5).
 *
 * Capability "tmeter.backward-rule/0.1": what the backward of an in-house operator takes, so that the cost of a
 * training step covers it; and the host interface "tmeter.host.backward-rules/0.1", by which a plugin that works
 * out such costs asks for rules. Without a rule such an operator is unknown for training.
 *
 * Arguments and results are bits: argument 0 is bit 0, as the node has them. Those from the 64th on are never kept.
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
  int64_t kept_bytes;       /* kept by the kernel beside arguments and results: masks, statistics */
  uint64_t keeps_arguments; /* arguments that are kept for the backward; a list with all its items */
  uint64_t keeps_results;   /* results, likewise */
} tmeter_backward;

/* The rule of one operator. */
typedef struct tmeter_backward_rule {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str op; /* "acme::gated_mlp"; with an overload, "acme::gated_mlp.out", of that alone */
  /* [serial] TMETER_UNSUPPORTED: not this call; it is then unknown for training. Negative amounts, and bits of
   * arguments and results that the node does not have, are the plugin's failure. */
  tmeter_status(TMETER_ABI *work)(tmeter_call *, const tmeter_node *, tmeter_backward *, void *user);
  void *user;
} tmeter_backward_rule;

/* What "tmeter.backward-rule/0.1" gives. */
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
  /* Asks the rule for the node's operator; of an open plugin, which the host opens when a model has an operator
   * that its rules name. `struct_size` and `wanted` are set by the caller. TMETER_UNSUPPORTED: there is no rule,
   * or it declines. Two plugins with a rule for one operator are an error that names both. */
  tmeter_status(TMETER_ABI *ask)(tmeter_call *, const tmeter_node *, tmeter_backward *);
} tmeter_backward_rules_api;

#ifdef __cplusplus
}
#endif
#endif
