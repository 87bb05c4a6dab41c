/*
 * A plugin of ABI 1.1: runs models by a clock that says 1000 ns for every operator, and observes the
 * runs. Nothing is computed: what is tried is what goes between it and the host.
 *
 * Its binary lies beside it and is never built again: README.md.
 */
#include <stdlib.h>

#define TMETER_ABI_TARGET_MINOR 1
#include "plugin.h"

static struct host {
  const tmeter_call_api *call;
  const tmeter_graph_api *graph;
  const tmeter_results_api *results;
  const tmeter_events_api *events;
  const tmeter_runs_api *runs;
} host;

/* --- the executor --------------------------------------------------------------------------- */

struct model {
  const tmeter_graph *graph;
  uint64_t now; /* nanoseconds */
};

static tmeter_status TMETER_ABI prepare(tmeter_call *call, const tmeter_graph *graph,
                                        const tmeter_run_request *request, void **state, void *user) {
  struct model *model;
  (void)user;
  if (!is(request->device, "cpu")) {
    host.call->fail(call, text("the clock ticks on the cpu only"));
    return TMETER_BAD_USAGE;
  }
  model = malloc(sizeof *model);
  if (!model) return TMETER_INTERNAL;
  model->graph = graph;
  model->now = 1000000;
  *state = model;
  return host.events->fact(call, text("engine"), text("a frozen clock"));
}

static tmeter_status tell(tmeter_call *call, struct model *model, int32_t kind, const tmeter_node *node,
                          int64_t bytes, uint64_t since) {
  tmeter_event event = {sizeof event, 0, 0, NULL, 0, 0, 0, 0};
  event.kind = kind;
  event.nanoseconds = model->now;
  event.node = node;
  event.bytes = bytes;
  event.since = since;
  return host.events->event(call, &event);
}

/* 1000 ns; in memory runs 64 bytes that are given back at once. */
static tmeter_status step(tmeter_call *call, struct model *model, int32_t run, const tmeter_node *node) {
  const uint64_t since = model->now;
  tmeter_status status = TMETER_OK;
  if (host.call->cancelled(call)) return TMETER_CANCELLED;
  if (run != TMETER_RUN_OPERATORS && run != TMETER_RUN_MEMORY) {
    model->now += 1000;
    return TMETER_OK;
  }
  status = tell(call, model, TMETER_EVENT_OP_BEGIN, node, 0, 0);
  if (status == TMETER_OK && run == TMETER_RUN_MEMORY)
    status = tell(call, model, TMETER_EVENT_ALLOCATE, node, 64, 0);
  if (status == TMETER_OK && run == TMETER_RUN_MEMORY)
    status = tell(call, model, TMETER_EVENT_FREE, node, 64, 0);
  model->now += 1000;
  if (status == TMETER_OK) status = tell(call, model, TMETER_EVENT_OP_END, node, 0, since);
  return status;
}

static tmeter_status TMETER_ABI run(tmeter_call *call, void *state, int32_t kind, int32_t threads,
                                    void *user) {
  struct model *model = state;
  const uint64_t since = model->now;
  const size_t n = host.graph->node_count(model->graph);
  tmeter_status status = tell(call, model, TMETER_EVENT_RUN_BEGIN, NULL, 0, 0);
  (void)threads;
  (void)user;
  for (size_t i = 0; status == TMETER_OK && i < n; ++i)
    status = step(call, model, kind, host.graph->node_at(model->graph, i));
  if (status == TMETER_OK) status = tell(call, model, TMETER_EVENT_RUN_END, NULL, 0, since);
  return status;
}

static void TMETER_ABI release(void *state, void *user) {
  (void)user;
  free(state);
}

static const tmeter_executor executor = {sizeof executor, 0, TEXT("a frozen clock"), prepare, run, release, NULL};
ONE(tmeter_executor, executor)

/* --- the observer --------------------------------------------------------------------------- */

static struct seen {
  int64_t rounds, operators, bytes, nanoseconds, others;
} seen;

static tmeter_status TMETER_ABI begin(tmeter_call *call, const tmeter_graph *graph, void *user) {
  const tmeter_status status = host.runs->want(call, TMETER_RUN_OPERATORS, 0, 0);
  (void)graph;
  (void)user;
  return status == TMETER_OK ? host.runs->want(call, TMETER_RUN_MEMORY, 0, 1) : status;
}

static tmeter_status TMETER_ABI observe(tmeter_call *call, const tmeter_event *event, void *user) {
  struct seen *s = user;
  (void)call;
  switch (event->kind) {
    case TMETER_EVENT_RUN_END: s->rounds += event->run == TMETER_RUN_OPERATORS; break;
    case TMETER_EVENT_ALLOCATE: s->bytes += event->bytes; break;
    case TMETER_EVENT_OP_END:
      if (event->run != TMETER_RUN_OPERATORS) break;
      s->operators += 1;
      s->nanoseconds += (int64_t)(event->nanoseconds - event->since);
      break;
    case TMETER_EVENT_RUN_BEGIN:
    case TMETER_EVENT_OP_BEGIN:
    case TMETER_EVENT_FREE: break;
    default: s->others += 1;
  }
  return TMETER_OK;
}

static int32_t TMETER_ABI enough(tmeter_call *call, void *user) {
  (void)call;
  return ((const struct seen *)user)->rounds >= 3;
}

static tmeter_status emit(tmeter_call *call, const char *metric, int64_t value) {
  tmeter_number n = {TMETER_NUMBER_INT, 0, 0, 0};
  n.i = value;
  return host.results->emit_at(call, text(metric), TMETER_AXIS_MODEL, 0, n);
}

/* Of one round: the clock is the same in each. */
static tmeter_status TMETER_ABI end(tmeter_call *call, const tmeter_graph *graph, void *user) {
  const struct seen *s = user;
  tmeter_status status;
  (void)graph;
  if (s->rounds == 0 || host.runs->stopped(call).len != 0) return TMETER_OK;
  if (!is(host.runs->fact(call, text("engine")), "a frozen clock")) return TMETER_INTERNAL;
  status = emit(call, "frozen_steps", s->operators / s->rounds);
  if (status == TMETER_OK) status = emit(call, "frozen_nanoseconds", s->nanoseconds / s->rounds);
  return status == TMETER_OK ? emit(call, "frozen_allocated", s->bytes) : status;
}

static const tmeter_observer observer = {
    sizeof observer, 0, TEXT("tally"), TEXT("frozen_steps frozen_nanoseconds frozen_allocated"),
    begin, observe, enough, end, NULL, &seen};
static const tmeter_observer *TMETER_ABI get_observer(uint32_t i, void *user) {
  return i == 0 ? user : NULL;
}

#define METRIC(id, title, unit, kind, convention)                                              \
  {sizeof(tmeter_metric_desc), 0, TEXT(id), TEXT(title), TEXT(unit), kind, TMETER_AXIS_MODEL, \
   TMETER_AGGREGATE_NONE, TMETER_BETTER_NEITHER, {NULL, 0}, TEXT(convention), {NULL, 0}}
static const tmeter_metric_desc metric[3] = {
    METRIC("frozen_steps", "steps", "operator", TMETER_UNIT_COUNT, "operators told of in a run"),
    METRIC("frozen_nanoseconds", "ns", "ns", TMETER_UNIT_OTHER, "by a clock of 1000 ns an operator"),
    METRIC("frozen_allocated", "allocated", "B", TMETER_UNIT_BYTE, "bytes told of in a memory run")};
static const tmeter_metric_desc *TMETER_ABI get_metric(uint32_t i, void *user) {
  (void)user;
  return i < 3 ? &metric[i] : NULL;
}

/* --- the plugin ----------------------------------------------------------------------------- */

static const tmeter_metrics metrics = {sizeof metrics, 3, get_metric, NULL};
static const tmeter_executors executors = {sizeof executors, 1, get_executor, (void *)&executor};
static const tmeter_observers observers = {sizeof observers, 1, get_observer, (void *)&observer};

static const void *TMETER_ABI get_capability(tmeter_str id, void *user) {
  (void)user;
  if (is(id, TMETER_CAP_METRICS)) return &metrics;
  if (is(id, TMETER_CAP_EXECUTOR)) return &executors;
  if (is(id, TMETER_CAP_OBSERVER)) return &observers;
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
  host.events = interface_of(h, TMETER_HOST_EVENTS);
  host.runs = interface_of(h, TMETER_HOST_RUNS);
  return TMETER_OK;
}
static void TMETER_ABI deinit(void *user) { (void)user; }

static const tmeter_plugin_info info = {sizeof info,  0,
                                        TEXT("com.frozen.runs"), TEXT("frozen-runs"),
                                        TEXT("1.0.0"), TEXT("a plugin of ABI 1.1"),
                                        {NULL, 0},    {NULL, 0}};
static const tmeter_plugin_entry_v1 entry = {
    sizeof entry, TMETER_ABI_TARGET_MINOR, &info, NULL, init, deinit, get_capability, NULL};
TMETER_EXPORT const tmeter_plugin_entry_v1 *tmeter_plugin_v1(void) { return &entry; }
