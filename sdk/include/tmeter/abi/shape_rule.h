/*
 * Capability "tmeter.shape-rule/1": schema and output shapes of an in-house operator, so that a
 * program that calls it can be run on shapes without the library that implements it; and the host
 * interface "tmeter.host.shape-rules/1", by which a loader asks for them.
 */
#ifndef TMETER_ABI_SHAPE_RULE_H
#define TMETER_ABI_SHAPE_RULE_H
#include "base.h"
#include "builder.h"
#include "loader.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_SHAPE_RULE "tmeter.shape-rule/1"
#define TMETER_HOST_SHAPE_RULES "tmeter.host.shape-rules/1"

typedef struct tmeter_shape_rule {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str schema; /* "acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor" */
  void *user;
  /* [serial] `args` in schema order, none for those left out. Makes the values of the results in
   * the builder and stores their ids in `results`, of which there is room for as many as the schema
   * returns. The values live until the call returns. */
  tmeter_status(TMETER_ABI *infer)(tmeter_call *, const tmeter_value *const *args, size_t count,
                                   tmeter_builder *, tmeter_id *results, size_t result_count,
                                   void *user);
} tmeter_shape_rule;

typedef struct tmeter_shape_rules {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_shape_rule *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_shape_rules;

/* For loaders, [serial]. The rules of all plugins that can be found; the plugin of the one asked
 * for is opened then. */
typedef struct tmeter_shape_rules_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* The schema of "acme::gated_mlp"; empty when no plugin has a rule for it. */
  tmeter_str(TMETER_ABI *schema)(const tmeter_request *, tmeter_str op);
  /* A builder of its own for the values of one call; to be given back with `end`. */
  tmeter_builder *(TMETER_ABI *begin)(const tmeter_request *);
  tmeter_status(TMETER_ABI *infer)(tmeter_call *, const tmeter_request *, tmeter_str op,
                                   tmeter_builder *, const tmeter_id *args, size_t count,
                                   tmeter_id *results, size_t result_count);
  /* Reads a value of such a builder, until `end`; null when the id is none of it. */
  const tmeter_value *(TMETER_ABI *value)(const tmeter_builder *, tmeter_id);
  void(TMETER_ABI *end)(tmeter_builder *);
} tmeter_shape_rules_api;

#ifdef __cplusplus
}
#endif
#endif
