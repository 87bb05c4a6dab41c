/*
 * A shape rule in plain C for acme::gated_mlp that writes where it has no room. $OVERRUN: the
 * number of ids by which its result is misplaced, "1", "64", "-1", "4096"; "0" for none. It reads
 * as many arguments as the schema has, whatever the value of `count`.
 */
#include <stdlib.h>
#include <string.h>
#include <tmeter/abi/tmeter.h>

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

static const tmeter_graph_api* graph;
static const tmeter_builder_api* builder;

static tmeter_str text(const char* s) {
  const tmeter_str out = {s, strlen(s)};
  return out;
}

static tmeter_status TMETER_ABI infer(tmeter_call* call, const tmeter_value* const* args,
                                      size_t count, tmeter_builder* b, tmeter_id* results,
                                      size_t result_count, void* user) {
  const char* by = getenv("OVERRUN");
  const tmeter_i64_span x = graph->value_dims(args[0]);
  tmeter_dim dims[8] = {{0, 0, 0}};
  tmeter_status status;
  (void)call;
  (void)count;
  (void)result_count;
  (void)user;
  for (size_t i = 0; i < x.len && i < 8; ++i) dims[i].value = x.ptr[i];
  status = builder->value_tensor(b, TMETER_DTYPE_FLOAT32, dims, x.len < 8 ? x.len : 8, &results[0]);
  if (status == TMETER_OK && by) results[atoi(by)] = results[0];
  return status;
}

static const tmeter_shape_rule rule = {
    sizeof rule, 0, TEXT("acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor"), NULL,
    infer};
static const tmeter_shape_rule* TMETER_ABI get_rule(uint32_t i, void* user) {
  (void)user;
  return i == 0 ? &rule : NULL;
}
static const tmeter_shape_rules rules = {sizeof rules, 1, get_rule, NULL};

static const void* TMETER_ABI get_capability(tmeter_str id, void* user) {
  (void)user;
  return id.len == strlen(TMETER_CAP_SHAPE_RULE) && !memcmp(id.ptr, TMETER_CAP_SHAPE_RULE, id.len)
             ? &rules
             : NULL;
}
static tmeter_status TMETER_ABI init(tmeter_call* call, const tmeter_host_v1* host, tmeter_str path,
                                     void* user) {
  (void)call;
  (void)path;
  (void)user;
  graph = host->get_interface(host, text(TMETER_HOST_GRAPH));
  builder = host->get_interface(host, text(TMETER_HOST_BUILDER));
  return graph && builder ? TMETER_OK : TMETER_INTERNAL;
}
static void TMETER_ABI deinit(void* user) { (void)user; }

static const tmeter_plugin_info info = {sizeof info,
                                        0,
                                        TEXT("com.acme.overrun"),
                                        TEXT("overrun"),
                                        TEXT("1.0.0"),
                                        TEXT("a rule that writes too far"),
                                        {NULL, 0},
                                        {NULL, 0}};
static const tmeter_plugin_entry_v1 entry = {sizeof entry, 0,      &info,          NULL,
                                             init,         deinit, get_capability, NULL};

TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) { return &entry; }
