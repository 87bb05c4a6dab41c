/*
 * A plugin of ABI 1.0: a loader, which builds a model of one linear layer, and a report writer, which
 * says all it is told. Its binary lies beside it and is never built again: README.md.
 */
#include "plugin.h"

static struct host {
  const tmeter_call_api *call;
  const tmeter_graph_api *graph;
  const tmeter_builder_api *builder;
  const tmeter_source_api *source;
  const tmeter_request_api *request;
  const tmeter_report_api *report;
  const tmeter_output_api *output;
} host;

/* --- a file "FROZEN1\n" and a batch size in one digit ------------------------------------------ */

static tmeter_id tensor(tmeter_builder *b, tmeter_id owner, const char *name, const int64_t *dims,
                        size_t rank) {
  tmeter_tensor_desc d;
  tmeter_id id = 0;
  memset(&d, 0, sizeof d);
  d.struct_size = sizeof d;
  d.kind = TMETER_TENSOR_PARAMETER;
  d.name = text(name);
  d.owner = owner;
  d.dtype = TMETER_DTYPE_FLOAT32;
  d.dims = dims;
  d.rank = rank;
  d.file_offset = -1;
  d.trainable = 1;
  host.builder->tensor(b, &d, &id);
  return id;
}

static tmeter_id square(tmeter_builder *b, int64_t rows, int64_t columns) {
  tmeter_dim dims[2];
  tmeter_id id = 0;
  memset(dims, 0, sizeof dims);
  dims[0].value = rows;
  dims[1].value = columns;
  host.builder->value_tensor(b, TMETER_DTYPE_FLOAT32, dims, 2, &id);
  return id;
}

static tmeter_status TMETER_ABI load(tmeter_call *call, const tmeter_request *request, tmeter_builder *b,
                                     void *user) {
  static const int64_t weight_dims[2] = {5, 3}, bias_dims[1] = {5};
  const tmeter_builder_api *api = host.builder;
  const tmeter_bytes bytes = host.source->bytes(host.request->source(request));
  tmeter_id root, layer, root_call, layer_call, weight, bias, x, y;
  tmeter_arg args[3];
  tmeter_node_desc node;
  (void)user;
  if (bytes.len < 9 || bytes.ptr[8] < '1' || bytes.ptr[8] > '9') {
    host.call->fail(call, text("a batch size from 1 to 9 is expected at byte 8"));
    return TMETER_BAD_MODEL;
  }
  api->property(b, text("name"), text("Frozen"));
  api->property(b, text("format"), text("frozen"));
  api->module(b, 0, text(""), text("acme.Frozen"), &root);
  api->module(b, root, text("layer"), text("torch.nn.modules.linear.Linear"), &layer);
  api->module_call(b, root, 0, &root_call);
  api->module_call(b, layer, root_call, &layer_call);
  api->value_bound(b, tensor(b, layer, "layer.weight", weight_dims, 2), &weight);
  api->value_bound(b, tensor(b, layer, "layer.bias", bias_dims, 1), &bias);
  x = square(b, bytes.ptr[8] - '0', 3);
  y = square(b, bytes.ptr[8] - '0', 5);
  api->input(b, text("x"), text("recorded"), x);
  memset(args, 0, sizeof args);
  args[0].name = text("input"), args[0].value = x;
  args[1].name = text("weight"), args[1].value = weight;
  args[2].name = text("bias"), args[2].value = bias;
  memset(&node, 0, sizeof node);
  node.struct_size = sizeof node;
  node.module_call = layer_call;
  node.op = text("aten::linear");
  node.args = args;
  node.arg_count = 3;
  node.results = &y;
  node.result_count = 1;
  if (api->node(b, &node, &root) != TMETER_OK) return TMETER_BAD_MODEL;
  return api->output(b, y);
}

static const tmeter_match match = {TEXT("magic:46524f5a454e310a"), 90, 0};
static const tmeter_loader loader = {
    sizeof loader, 1, TEXT("frozen"), TEXT("frozen file"), &match, load, NULL, {NULL, 0}};
ONE(tmeter_loader, loader)
static const tmeter_loaders loaders = {sizeof loaders, 1, get_loader, (void *)&loader};

/* --- a report --------------------------------------------------------------------------------- */

static void say(tmeter_output *out, tmeter_str words) {
  const tmeter_bytes bytes = {(const uint8_t *)words.ptr, words.len};
  host.output->write(out, bytes);
}

static void say_number(tmeter_output *out, tmeter_number n) {
  char digits[24];
  size_t i = sizeof digits;
  int64_t rest = n.i;
  if (n.kind != TMETER_NUMBER_INT || rest < 0) {
    say(out, text(n.kind == TMETER_NUMBER_FLOAT ? "real" : "none"));
    return;
  }
  do digits[--i] = (char)('0' + rest % 10);
  while (rest /= 10);
  say(out, (tmeter_str){digits + i, sizeof digits - i});
}

static tmeter_status TMETER_ABI write(tmeter_call *call, const tmeter_report *r, tmeter_output *out,
                                      void *user) {
  const tmeter_graph *graph = host.report->graph(r);
  tmeter_metric_info metric;
  tmeter_coverage coverage;
  (void)call;
  (void)user;
  say(out, host.graph->property(graph, text("name")));
  say(out, text(": "));
  for (size_t i = 0; i < host.report->metric_count(r); ++i) {
    memset(&metric, 0, sizeof metric);
    metric.struct_size = sizeof metric;
    if (host.report->metric_at(r, i, &metric) != TMETER_OK) return TMETER_INTERNAL;
    say(out, metric.id);
    say(out, text("="));
    say_number(out, host.report->cell(r, i, TMETER_AXIS_MODEL, 0));
    say(out, text(" "));
  }
  memset(&coverage, 0, sizeof coverage);
  coverage.struct_size = sizeof coverage;
  host.report->coverage(r, &coverage);
  say(out, text(coverage.unknown ? "not " : ""));
  say(out, text("all counted; "));
  for (size_t i = 0; i < host.graph->module_count(graph); ++i) {
    say(out, host.report->module_fact(r, i, text("text")));
    say(out, text(i + 1 < host.graph->module_count(graph) ? ", " : "\n"));
  }
  return TMETER_OK;
}
static const tmeter_writer writer = {
    sizeof writer, 0, TEXT("frozen"), TEXT("frozen"), TEXT("text/plain"), write, NULL};
ONE(tmeter_writer, writer)
static const tmeter_writers writers = {sizeof writers, 1, get_writer, (void *)&writer};

/* --- the plugin ------------------------------------------------------------------------------- */

static const void *TMETER_ABI get_capability(tmeter_str id, void *user) {
  (void)user;
  if (is(id, TMETER_CAP_LOADER)) return &loaders;
  if (is(id, TMETER_CAP_REPORT_WRITER)) return &writers;
  return NULL;
}

static tmeter_status TMETER_ABI init(tmeter_call *call, const tmeter_host_v1 *h, tmeter_str path,
                                     void *user) {
  (void)call;
  (void)path;
  (void)user;
  host.call = interface_of(h, TMETER_HOST_CALL);
  host.graph = interface_of(h, TMETER_HOST_GRAPH);
  host.builder = interface_of(h, TMETER_HOST_BUILDER);
  host.source = interface_of(h, TMETER_HOST_SOURCE);
  host.request = interface_of(h, TMETER_HOST_REQUEST);
  host.report = interface_of(h, TMETER_HOST_REPORT);
  host.output = interface_of(h, TMETER_HOST_OUTPUT);
  return TMETER_OK;
}
static void TMETER_ABI deinit(void *user) { (void)user; }

static const tmeter_plugin_info info = {sizeof info,   0,
                                        TEXT("com.frozen.files"), TEXT("frozen-files"),
                                        TEXT("1.0.0"), TEXT("a plugin of ABI 1.0"),
                                        {NULL, 0},     {NULL, 0}};
static const tmeter_plugin_entry_v1 entry = {sizeof entry, 0, &info, NULL, init, deinit, get_capability,
                                             NULL};
TMETER_EXPORT const tmeter_plugin_entry_v1 *tmeter_plugin_v1(void) { return &entry; }
