/*
 * A metric for tmeter in plain C, with only the ABI headers: the number of elements that each
 * operator produces. Modules and the model get the sum.
 */
#include <string.h>
#include <tmeter/abi/tmeter.h>

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

/* Passed to every callback as `user`. */
typedef struct state {
  const tmeter_call_api* call;
  const tmeter_graph_api* graph;
  const tmeter_results_api* results;
} state;
static state the_state;

static tmeter_status fail(const state* s, tmeter_call* call, const char* why) {
  const tmeter_str text = {why, strlen(why)};
  s->call->fail(call, text);
  return TMETER_BAD_MODEL;
}

/* The elements of a tensor; -1 when they are more than an int64 holds. */
static int64_t elements(tmeter_i64_span dims) {
  int64_t n = 1;
  for (size_t i = 0; i < dims.len; ++i) {
    if (__builtin_mul_overflow(n, dims.ptr[i], &n)) return -1;
  }
  return n;
}

/* Adds the elements of a tensor, or of all tensors in a list; 0 when an int64 cannot hold them. */
static int add_elements(const state* s, const tmeter_value* value, int64_t* sum) {
  const size_t items = s->graph->value_size(value);
  for (size_t i = 0; i < items; ++i) {
    if (!add_elements(s, s->graph->value_at(value, i), sum)) return 0;
  }
  if (s->graph->value_kind(value) != TMETER_VALUE_TENSOR) return 1;
  const int64_t n = elements(s->graph->value_dims(value));
  return n >= 0 && !__builtin_add_overflow(*sum, n, sum);
}

static tmeter_status TMETER_ABI eval(tmeter_call* call, const tmeter_node* node, void* user) {
  const state* s = user;
  tmeter_number number = {TMETER_NUMBER_INT, 0, 0, 0};
  for (size_t i = 0; i < s->graph->node_result_count(node); ++i) {
    if (!add_elements(s, s->graph->node_result(node, i), &number.i))
      return fail(s, call, "an operator produces more than 2^63 - 1 elements");
  }
  return s->results->emit(call, number);
}

static const tmeter_metric_desc metric = {
    .struct_size = sizeof(tmeter_metric_desc),
    .id = TEXT("c_elements"),
    .title = TEXT("elements"),
    .unit = TEXT("elements"),
    .unit_kind = TMETER_UNIT_COUNT,
    .axis = TMETER_AXIS_NODE,
    .aggregation = TMETER_AGGREGATE_SUM,
    .convention = TEXT("elements of all result tensors of an operator"),
    .description = TEXT("elements that the operators produce")};
static const tmeter_op_handler handler = {.struct_size = sizeof(tmeter_op_handler),
                                          .metric = TEXT("c_elements"),
                                          .op = TEXT("*"),
                                          .user = &the_state,
                                          .eval = eval};

static const tmeter_metric_desc* TMETER_ABI get_metric(uint32_t i, void* user) {
  (void)user;
  return i == 0 ? &metric : NULL;
}
static const tmeter_op_handler* TMETER_ABI get_handler(uint32_t i, void* user) {
  (void)user;
  return i == 0 ? &handler : NULL;
}
static const tmeter_metrics metrics = {sizeof(tmeter_metrics), 1, get_metric, &the_state};
static const tmeter_op_handlers handlers = {sizeof(tmeter_op_handlers), 1, get_handler, &the_state};

static const void* interface_of(const tmeter_host_v1* host, const char* id) {
  const tmeter_str text = {id, strlen(id)};
  return host->get_interface(host, text);
}

static tmeter_status TMETER_ABI init(tmeter_call* call, const tmeter_host_v1* host, tmeter_str path,
                                     void* user) {
  state* s = user;
  (void)call;
  (void)path;
  s->call = interface_of(host, TMETER_HOST_CALL);
  s->graph = interface_of(host, TMETER_HOST_GRAPH);
  s->results = interface_of(host, TMETER_HOST_RESULTS);
  return s->call && s->graph && s->results ? TMETER_OK : TMETER_UNAVAILABLE;
}

static void TMETER_ABI deinit(void* user) { memset(user, 0, sizeof(state)); }

static int is(tmeter_str text, const char* id) {
  return text.len == strlen(id) && memcmp(text.ptr, id, text.len) == 0;
}
static const void* TMETER_ABI get_capability(tmeter_str id, void* user) {
  (void)user;
  if (is(id, TMETER_CAP_METRICS)) return &metrics;
  if (is(id, TMETER_CAP_OP_HANDLER)) return &handlers;
  return NULL;
}

static const tmeter_plugin_info info = {.struct_size = sizeof(tmeter_plugin_info),
                                        .id = TEXT("com.example.c-metric"),
                                        .name = TEXT("c-metric"),
                                        .version = TEXT("1.0.0"),
                                        .description = TEXT("A metric in plain C")};
static const tmeter_plugin_entry_v1 entry = {.struct_size = sizeof(tmeter_plugin_entry_v1),
                                             .info = &info,
                                             .user = &the_state,
                                             .init = init,
                                             .deinit = deinit,
                                             .get_capability = get_capability};

TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) { return &entry; }
