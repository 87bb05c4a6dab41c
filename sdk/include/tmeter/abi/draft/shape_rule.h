/*
 * DRAFT of capability "tmeter.shape-rule/1": output shapes of an in-house operator, so that a
 * TorchScript file that calls it can be interpreted without the library that implements it.
 * A draft may change or vanish in any release; no host serves it yet.
 */
#ifndef TMETER_ABI_DRAFT_SHAPE_RULE_H
#define TMETER_ABI_DRAFT_SHAPE_RULE_H
#include "../builder.h"

#define TMETER_CAP_SHAPE_RULE "tmeter.shape-rule/1"

typedef struct tmeter_shape_rule {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str schema; /* "acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor" */
  void *user;
  /* `args` in schema order; creates the result values in the builder. [serial] */
  tmeter_status(TMETER_ABI *infer)(tmeter_call *, const tmeter_value *const *args, size_t count,
                                   tmeter_builder *, tmeter_id *results, void *user);
} tmeter_shape_rule;

#endif
