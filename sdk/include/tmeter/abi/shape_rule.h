/*
 * Capability "tmeter.shape-rule/1": schema and output shapes of an in-house operator, so that a
 * program that calls it can be run on shapes without the library that implements it; and the host
 * interface "tmeter.host.shape-rules/1", by which loaders, propagators and other holders of a call
 * use them.
 *
 * A rule is called for operators that no installed library can run; LibTorch computes its own operators.
 */
#ifndef TMETER_ABI_SHAPE_RULE_H
#define TMETER_ABI_SHAPE_RULE_H
#include "base.h"
#include "builder.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_SHAPE_RULE "tmeter.shape-rule/1"
#define TMETER_HOST_SHAPE_RULES "tmeter.host.shape-rules/1"

/* The rule of one operator. */
typedef struct tmeter_shape_rule {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str schema; /* "acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor" */
  void *user;
  /* [serial] `args` in schema order, null for omitted ones. Makes the values of the results in
   * the builder and stores their ids in `results`, which has as many places as the schema
   * has results. The values live until the call returns.
   * TMETER_BAD_MODEL refuses these arguments, as the operator itself would: `fail` gets the
   * expectation. Any other failure, and impossible values (negative dims), are the plugin's. */
  tmeter_status(TMETER_ABI *infer)(tmeter_call *, const tmeter_value *const *args, size_t count,
                                   tmeter_builder *, tmeter_id *results, size_t result_count,
                                   void *user);
} tmeter_shape_rule;

/* The table of "tmeter.shape-rule/1". */
typedef struct tmeter_shape_rules {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_shape_rule *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_shape_rules;

/* [serial]. The rules of all plugins that can be found; the plugin of a requested rule is opened
 * on demand. An operator is "acme::gated_mlp", or "acme::gated_mlp.out" with its overload: a rule without
 * overload covers all of them. */
typedef struct tmeter_shape_rules_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* The schema of the rule for `op` and the id of its plugin; both live until `deinit`.
   * TMETER_UNSUPPORTED without one. Two plugins with a rule for it are an error. */
  tmeter_status(TMETER_ABI *find)(tmeter_call *, tmeter_str op, tmeter_str *schema,
                                  tmeter_str *plugin);
  /* A separate builder for the values of one call; release it with `end` before this call
   * returns. Its errors become errors of this call. */
  tmeter_builder *(TMETER_ABI *begin)(tmeter_call *);
  /* Calls the rule: `args` are values of this builder in schema order, 0 for omitted ones; `results`
   * gets their ids; `result_count` as in the schema; 0 each if it fails.
   * TMETER_CANNOT_RUN: the rule refuses these arguments, for the reason in `why`, which lives until
   * `end`. TMETER_UNSUPPORTED: there is no rule. Any other status is the failure of the rule's plugin:
   * return it at once. */
  tmeter_status(TMETER_ABI *infer)(tmeter_call *, tmeter_str op, tmeter_builder *,
                                   const tmeter_id *args, size_t count, tmeter_id *results,
                                   size_t result_count, tmeter_str *why);
  /* Reads a value of such a builder, until `end`; null for a foreign id. */
  const tmeter_value *(TMETER_ABI *value)(const tmeter_builder *, tmeter_id);
  void(TMETER_ABI *end)(tmeter_builder *); /* releases it and all its values; null has no effect */
} tmeter_shape_rules_api;

#ifdef __cplusplus
}
#endif
#endif
