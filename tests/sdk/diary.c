/*
 * A plugin in plain C that keeps a diary of its life in the file $DIARY: one line for each of the
 * functions the host calls. It reaches its state only through the `user` pointers, like a plugin
 * in another language; a wrong pointer makes it fail.
 *
 * $DIARY_OFFERS lists the capabilities it offers: metrics, handlers, analyses, writers.
 * $DIARY_INIT is the reason its init fails with; "-" fails without a reason.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tmeter/abi/tmeter.h>

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

struct diary {
  const tmeter_call_api* calls;
  const tmeter_results_api* results;
  const tmeter_output_api* outputs;
};
static struct diary diary; /* the entry's `user`, read only through it */

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

static void note(const char* what, const char* more, size_t length) {
  FILE* file = fopen(setting("DIARY"), "a");
  if (!file) return;
  fprintf(file, "%s%s%.*s\n", what, length ? " " : "", (int)length, more);
  fclose(file);
}

/* Neither is ever written: the process ends by _exit. */
__attribute__((destructor)) static void destroyed(void) { note("destroyed", "", 0); }
static void at_exit(void) { note("atexit", "", 0); }

static int equal(tmeter_str a, const char* b) {
  return a.len == strlen(b) && !memcmp(a.ptr, b, a.len);
}
static tmeter_str text(const char* s) {
  tmeter_str out = {s, strlen(s)};
  return out;
}

/* The `user` of the lists' items: the page of the diary they belong to. */
struct page {
  const char* name;
  struct diary* of;
};
static struct page handler_page = {"handler", &diary}, analysis_page = {"analysis", &diary},
                   writer_page = {"writer", &diary};

static tmeter_status eval(tmeter_call* call, const tmeter_node* node, void* user) {
  const struct page* page = (const struct page*)user;
  const tmeter_number one = {TMETER_NUMBER_INT, 0, 1, 0};
  (void)node;
  return page == &handler_page ? page->of->results->emit(call, one) : TMETER_INTERNAL;
}

static tmeter_status analyse(tmeter_call* call, const tmeter_graph* graph, void* user) {
  (void)call, (void)graph;
  note(((const struct page*)user)->name, "", 0);
  return user == &analysis_page ? TMETER_OK : TMETER_INTERNAL;
}

static tmeter_status write(tmeter_call* call, const tmeter_report* report, tmeter_output* out,
                           void* user) {
  static const char kText[] = "Dear diary\n";
  const tmeter_bytes bytes = {(const uint8_t*)kText, sizeof kText - 1};
  (void)call, (void)report;
  note(((const struct page*)user)->name, "", 0);
  return user == &writer_page ? diary.outputs->write(out, bytes) : TMETER_INTERNAL;
}

static const tmeter_option_desc kOption = {
    sizeof kOption, TMETER_OPTION_INT, TEXT("pages"), TEXT("7"), {0, 0}, TEXT("pages"), 1, 0};
static const tmeter_metric_desc kMetric = {sizeof kMetric,
                                           0,
                                           TEXT("diary"),
                                           TEXT("diary"),
                                           TEXT("page"),
                                           TMETER_UNIT_COUNT,
                                           TMETER_AXIS_NODE,
                                           TMETER_AGGREGATE_SUM,
                                           TMETER_BETTER_NEITHER,
                                           {0, 0},
                                           TEXT("one page an operator"),
                                           {0, 0}};
static const tmeter_op_handler kHandler = {sizeof kHandler, 0,   TEXT("diary"), TEXT("*"), 0, 0,
                                           &handler_page,   eval};
static const tmeter_analysis kAnalysis = {sizeof kAnalysis, 0,       TEXT("diary"), {0, 0},
                                          {0, 0},           analyse, &analysis_page};
static const tmeter_writer kWriter = {sizeof kWriter,     0,     TEXT("diary"), TEXT("diary"),
                                      TEXT("text/plain"), write, &writer_page};

/* Each list holds one item; its `user` is the item itself. */
#define GET(type, name) \
  static const type* name(uint32_t i, void* user) { return i == 0 ? (const type*)user : 0; }
GET(tmeter_option_desc, get_option)
GET(tmeter_metric_desc, get_metric)
GET(tmeter_op_handler, get_handler)
GET(tmeter_analysis, get_analysis)
GET(tmeter_writer, get_writer)

static const tmeter_options kOptions = {sizeof kOptions, 1, get_option, (void*)&kOption};
static const tmeter_metrics kMetrics = {sizeof kMetrics, 1, get_metric, (void*)&kMetric};
static const tmeter_op_handlers kHandlers = {sizeof kHandlers, 1, get_handler, (void*)&kHandler};
static const tmeter_analyses kAnalyses = {sizeof kAnalyses, 1, get_analysis, (void*)&kAnalysis};
static const tmeter_writers kWriters = {sizeof kWriters, 1, get_writer, (void*)&kWriter};

static const void* offer(const char* what, const void* table) {
  return strstr(setting("DIARY_OFFERS"), what) ? table : 0;
}

static const void* capability(tmeter_str id, void* user) {
  if (user != &diary) return 0;
  if (equal(id, TMETER_CAP_OPTIONS)) return &kOptions;
  if (equal(id, TMETER_CAP_METRICS)) return offer("metrics", &kMetrics);
  if (equal(id, TMETER_CAP_OP_HANDLER)) return offer("handlers", &kHandlers);
  if (equal(id, TMETER_CAP_ANALYSIS)) return offer("analyses", &kAnalyses);
  if (equal(id, TMETER_CAP_REPORT_WRITER)) return offer("writers", &kWriters);
  return 0;
}

static tmeter_status init(tmeter_call* call, const tmeter_host_v1* host, tmeter_str path,
                          void* user) {
  struct diary* d = (struct diary*)user;
  const char* reason = setting("DIARY_INIT");
  note("init", path.ptr, path.len);
  atexit(at_exit);
  if (d != &diary) return TMETER_INTERNAL;
  d->calls = (const tmeter_call_api*)host->get_interface(host, text(TMETER_HOST_CALL));
  d->results = (const tmeter_results_api*)host->get_interface(host, text(TMETER_HOST_RESULTS));
  d->outputs = (const tmeter_output_api*)host->get_interface(host, text(TMETER_HOST_OUTPUT));
  d->calls->log(call, TMETER_LOG_WARNING, text("the diary begins"));
  if (!*reason) return TMETER_OK;
  if (strcmp(reason, "-")) d->calls->fail(call, text(reason));
  return TMETER_UNAVAILABLE;
}

static void deinit(void* user) {
  note(user == &diary ? "deinit" : "deinit with a wrong user", "", 0);
}

static tmeter_status configure(tmeter_call* call, void* user) {
  int64_t pages = 0;
  char words[32];
  const struct diary* d = (const struct diary*)user;
  if (d->calls->option_int(call, text("pages"), &pages) != TMETER_OK) return TMETER_INTERNAL;
  note("configure", words, (size_t)snprintf(words, sizeof words, "pages=%d", (int)pages));
  return TMETER_OK;
}

TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) {
  static const tmeter_plugin_info info = {
      sizeof info,           0,      TEXT("com.acme.diary"), TEXT("diary"), TEXT("1"),
      TEXT("keeps a diary"), {0, 0}, TEXT("files")};
  static const tmeter_plugin_entry_v1 entry = {sizeof entry, 0,      &info,      &diary,
                                               init,         deinit, capability, configure};
  return &entry;
}
