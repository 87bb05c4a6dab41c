/*
 * A plugin of ABI 1.0: options, metrics, handlers of operators and module types, a class of work, a
 * shape rule, an analysis with a finding, a distribution and a series, and a look at weights.
 *
 * Its binary lies beside it and is never built again: README.md.
 */
#include <stdlib.h>

#include "plugin.h"

static struct host {
  const tmeter_call_api *call;
  const tmeter_graph_api *graph;
  const tmeter_results_api *results;
  const tmeter_findings_api *findings;
  const tmeter_distributions_api *distributions;
  const tmeter_builder_api *builder;
} host;

/* --- metrics -------------------------------------------------------------------------------- */

static int64_t elements(tmeter_i64_span dims) {
  int64_t n = 1;
  for (size_t i = 0; i < dims.len; ++i) n *= dims.ptr[i];
  return n;
}

/* The elements of the first result, `times` as many. */
static tmeter_status TMETER_ABI eval(tmeter_call *call, const tmeter_node *node, void *user) {
  const tmeter_value *result = host.graph->node_result(node, 0);
  tmeter_number n = {TMETER_NUMBER_INT, 0, 0, 0};
  int64_t times = 0;
  const tmeter_status status = host.call->option_int(call, text("times"), &times);
  (void)user;
  if (status != TMETER_OK) return status;
  if (host.graph->value_kind(result) != TMETER_VALUE_TENSOR) return TMETER_UNSUPPORTED;
  n.i = times * elements(host.graph->value_dims(result));
  return host.results->emit(call, n);
}

/* Of a module type: one for each child. */
static tmeter_status TMETER_ABI eval_module(tmeter_call *call, const tmeter_graph *graph,
                                            const tmeter_module_call *module_call, void *user) {
  const tmeter_module *module = host.graph->module_call_module(module_call);
  tmeter_number n = {TMETER_NUMBER_INT, 0, 0, 0};
  (void)graph;
  (void)user;
  n.i = (int64_t)host.graph->module_child_count(module);
  return host.results->emit(call, n);
}

static const tmeter_option_desc option = {
    sizeof option, TMETER_OPTION_INT, TEXT("times"), TEXT("1"), {NULL, 0}, TEXT("how often"), 1, 9};
ONE(tmeter_option_desc, option)

static const tmeter_metric_desc metric[3] = {
    {sizeof *metric, 0, TEXT("frozen_elements"), TEXT("elements"), TEXT("element"), TMETER_UNIT_COUNT,
     TMETER_AXIS_NODE, TMETER_AGGREGATE_SUM, TMETER_BETTER_NEITHER, {NULL, 0},
     TEXT("elements of an operator's first result"), {NULL, 0}},
    {sizeof *metric, 0, TEXT("frozen_children"), TEXT("children"), TEXT("module"), TMETER_UNIT_COUNT,
     TMETER_AXIS_NODE, TMETER_AGGREGATE_SUM, TMETER_BETTER_NEITHER, {NULL, 0},
     TEXT("modules directly inside an Mlp"), {NULL, 0}},
    {sizeof *metric, 0, TEXT("frozen_bytes"), TEXT("bytes seen"), TEXT("B"), TMETER_UNIT_BYTE,
     TMETER_AXIS_TENSOR, TMETER_AGGREGATE_SUM, TMETER_BETTER_NEITHER, {NULL, 0},
     TEXT("bytes of tensors that were read"), {NULL, 0}}};
static const tmeter_metric_desc *TMETER_ABI get_metric(uint32_t i, void *user) {
  (void)user;
  return i < 3 ? &metric[i] : NULL;
}

static const tmeter_op_handler handler = {
    sizeof handler, 0, TEXT("frozen_elements"), TEXT("*"), 0, 0, NULL, eval};
ONE(tmeter_op_handler, handler)
static const tmeter_module_handler module_handler = {
    sizeof module_handler, 0, TEXT("frozen_children"), TEXT("Mlp"), 0, 0, NULL, eval_module, {NULL, 0}};
ONE(tmeter_module_handler, module_handler)
static const tmeter_op_class op_class = {sizeof op_class, 0, TEXT("acme::gated_mlp"), TEXT("matmul")};
ONE(tmeter_op_class, op_class)

/* --- an in-house operator ------------------------------------------------------------------- */

/* As its first argument. */
static tmeter_status TMETER_ABI infer(tmeter_call *call, const tmeter_value *const *args, size_t count,
                                      tmeter_builder *builder, tmeter_id *results, size_t result_count,
                                      void *user) {
  tmeter_dim dims[8];
  tmeter_i64_span span;
  (void)user;
  if (count < 1 || result_count < 1) return TMETER_INTERNAL;
  span = host.graph->value_dims(args[0]);
  if (span.len > 8) {
    host.call->fail(call, text("at most 8 dims are expected"));
    return TMETER_BAD_MODEL;
  }
  memset(dims, 0, sizeof dims);
  for (size_t i = 0; i < span.len; ++i) dims[i].value = span.ptr[i];
  return host.builder->value_tensor(builder, host.graph->value_dtype(args[0]), dims, span.len, results);
}
static const tmeter_shape_rule shape_rule = {
    sizeof shape_rule, 0, TEXT("acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor"), NULL,
    infer};
ONE(tmeter_shape_rule, shape_rule)

/* --- a pass over the graph ------------------------------------------------------------------ */

static tmeter_status TMETER_ABI run(tmeter_call *call, const tmeter_graph *graph, void *user) {
  static const double edges[3] = {0, 1, 2}, x[2] = {1, 2}, y[2] = {4, 2};
  static const uint64_t counts[2] = {3, 4};
  const tmeter_target model = {TMETER_AXIS_MODEL, 0, 0};
  tmeter_finding finding;
  tmeter_distribution distribution;
  tmeter_series series;
  tmeter_number total;
  (void)user;
  if (host.results->read(call, text("frozen_elements"), TMETER_AXIS_MODEL, 0, &total) != TMETER_OK)
    return TMETER_INTERNAL;
  memset(&finding, 0, sizeof finding);
  finding.struct_size = sizeof finding;
  finding.severity = total.i > 0 ? TMETER_SEVERITY_ADVICE : TMETER_SEVERITY_ERROR;
  finding.rule = text("frozen");
  finding.text = host.graph->property(graph, text("file"));
  finding.targets = &model;
  finding.target_count = 1;
  memset(&distribution, 0, sizeof distribution);
  distribution.struct_size = sizeof distribution;
  distribution.id = distribution.title = text("frozen_bins");
  distribution.of = model;
  distribution.edges = edges;
  distribution.counts = counts;
  distribution.bin_count = 2;
  memset(&series, 0, sizeof series);
  series.struct_size = sizeof series;
  series.id = series.title = text("frozen_line");
  series.of = model;
  series.x = x;
  series.y = y;
  series.point_count = 2;
  if (host.findings->add(call, &finding) != TMETER_OK) return TMETER_INTERNAL;
  if (host.distributions->add(call, &distribution) != TMETER_OK) return TMETER_INTERNAL;
  return host.distributions->add_series(call, &series);
}
static const tmeter_analysis analysis = {
    sizeof analysis, 0, TEXT("frozen"), TEXT("frozen_elements"), {NULL, 0}, run, NULL};
ONE(tmeter_analysis, analysis)

/* --- weights -------------------------------------------------------------------------------- */

static tmeter_status TMETER_ABI begin(tmeter_call *call, const tmeter_tensor_part *part, void **state,
                                      void *user) {
  (void)part;
  (void)user;
  *state = calloc(1, sizeof(int64_t));
  if (*state) return TMETER_OK;
  host.call->fail(call, text("out of memory"));
  return TMETER_INTERNAL;
}
static tmeter_status TMETER_ABI chunk(tmeter_call *call, void *state, const tmeter_chunk *c, void *user) {
  (void)call;
  (void)user;
  *(int64_t *)state += (int64_t)c->bytes.len;
  return TMETER_OK;
}
static tmeter_status TMETER_ABI merge(tmeter_call *call, void *state, void *other, void *user) {
  (void)call;
  (void)user;
  *(int64_t *)state += *(const int64_t *)other;
  return TMETER_OK;
}
static tmeter_status TMETER_ABI end(tmeter_call *call, const tmeter_tensor_part *part, void *state,
                                    int32_t *again, void *user) {
  (void)call;
  (void)part;
  (void)state;
  (void)user;
  *again = 0;
  return TMETER_OK;
}
static tmeter_status TMETER_ABI emit(tmeter_call *call, const tmeter_tensor *tensor, void *state,
                                     void *user) {
  tmeter_number n = {TMETER_NUMBER_INT, 0, 0, 0};
  (void)user;
  n.i = *(const int64_t *)state;
  return host.results->emit_at(call, text("frozen_bytes"), TMETER_AXIS_TENSOR,
                               host.graph->tensor_index(tensor), n);
}
static void TMETER_ABI release(void *state, void *user) {
  (void)user;
  free(state);
}
static const tmeter_tensor_analysis tensors = {
    sizeof tensors, 0,     TEXT("bytes"), TEXT("frozen_bytes"), NULL, begin, chunk, merge, end, emit,
    release,        NULL};
ONE(tmeter_tensor_analysis, tensors)

/* --- the plugin ----------------------------------------------------------------------------- */

#define LIST(type, name, n, first) static const type name##_list = {sizeof(type), n, get_##name, (void *)first}
LIST(tmeter_options, option, 1, &option);
LIST(tmeter_metrics, metric, 3, NULL);
LIST(tmeter_op_handlers, handler, 1, &handler);
LIST(tmeter_module_handlers, module_handler, 1, &module_handler);
LIST(tmeter_op_classes, op_class, 1, &op_class);
LIST(tmeter_shape_rules, shape_rule, 1, &shape_rule);
LIST(tmeter_analyses, analysis, 1, &analysis);
LIST(tmeter_tensor_analyses, tensors, 1, &tensors);

static const struct {
  const char *id;
  const void *list;
} offers[] = {{TMETER_CAP_OPTIONS, &option_list},
              {TMETER_CAP_METRICS, &metric_list},
              {TMETER_CAP_OP_HANDLER, &handler_list},
              {TMETER_CAP_MODULE_HANDLER, &module_handler_list},
              {TMETER_CAP_OP_CLASS, &op_class_list},
              {TMETER_CAP_SHAPE_RULE, &shape_rule_list},
              {TMETER_CAP_ANALYSIS, &analysis_list},
              {TMETER_CAP_TENSOR_ANALYSIS, &tensors_list}};

static const void *TMETER_ABI get_capability(tmeter_str id, void *user) {
  (void)user;
  for (size_t i = 0; i < sizeof offers / sizeof *offers; ++i) {
    if (is(id, offers[i].id)) return offers[i].list;
  }
  return NULL;
}

static tmeter_status TMETER_ABI init(tmeter_call *call, const tmeter_host_v1 *h, tmeter_str path,
                                     void *user) {
  (void)call;
  (void)path;
  (void)user;
  host.call = interface_of(h, TMETER_HOST_CALL);
  host.graph = interface_of(h, TMETER_HOST_GRAPH);
  host.results = interface_of(h, TMETER_HOST_RESULTS);
  host.findings = interface_of(h, TMETER_HOST_FINDINGS);
  host.distributions = interface_of(h, TMETER_HOST_DISTRIBUTIONS);
  host.builder = interface_of(h, TMETER_HOST_BUILDER);
  return TMETER_OK;
}
static void TMETER_ABI deinit(void *user) { (void)user; }

static const tmeter_plugin_info info = {sizeof info,     0,
                                        TEXT("com.frozen.operators"), TEXT("frozen-operators"),
                                        TEXT("1.0.0"),   TEXT("a plugin of ABI 1.0"),
                                        {NULL, 0},       {NULL, 0}};
static const tmeter_plugin_entry_v1 entry = {sizeof entry, 0, &info, NULL, init, deinit, get_capability,
                                             NULL};
TMETER_EXPORT const tmeter_plugin_entry_v1 *tmeter_plugin_v1(void) { return &entry; }
