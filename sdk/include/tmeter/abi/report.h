/*
 * Capability "tmeter.report-writer/1": turns a finished report into text or bytes, and the host
 * interfaces through which it reads the report and writes the output.
 *
 * A writer shows every metric of the report and does not depend on their names. The graph of the report
 * is read with graph.h, its cells with `cell`.
 */
#ifndef TMETER_ABI_REPORT_H
#define TMETER_ABI_REPORT_H
#include "base.h"
#include "distribution.h"
#include "finding.h"
#include "metric.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_REPORT_WRITER "tmeter.report-writer/1"
#define TMETER_HOST_REPORT "tmeter.host.report/1"
#define TMETER_HOST_OUTPUT "tmeter.host.output/1"

/* A writer. Texts live until `deinit`. */
typedef struct tmeter_writer {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name; /* "json", as in --report json; neither '.' nor '/' in it */
  /* "json": --report FILE.json means this writer if no other has the extension, or if this is its name. */
  tmeter_str extension;
  /* "application/json". Types other than "text/…", JSON, XML, YAML and those built on them ("…+xml") are
   * bytes, which are not written to a terminal. Empty: text. */
  tmeter_str media_type;
  /* [serial] Reads the report and appends to the output. Both end with the call; an ended output
   * refuses more (TMETER_INVALID_ARGUMENT). A failure, including
   * TMETER_UNSUPPORTED, is reported; then nothing is written. */
  tmeter_status(TMETER_ABI *write)(tmeter_call *, const tmeter_report *, tmeter_output *, void *user);
  void *user;
} tmeter_writer;

/* The table of "tmeter.report-writer/1". */
typedef struct tmeter_writers {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_writer *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_writers;

/* A metric of the report. */
typedef struct tmeter_metric_info { /* growable; the host fills it. Texts live with the report. */
  uint32_t struct_size;
  uint32_t flags;                                /* TMETER_METRIC_… */
  tmeter_str id, title, unit;                    /* as declared by its plugin (metric.h) */
  int32_t unit_kind, axis, aggregation, better;  /* likewise */
  int32_t provenance;         /* TMETER_PROVENANCE_… of this run */
  int32_t reserved;
  tmeter_str provenance_text; /* text of the provenance; may be empty */
  tmeter_str convention;      /* its convention in this run; never empty */
  tmeter_str description;     /* one line; may be empty */
  tmeter_str plugin;          /* id of its plugin */
} tmeter_metric_info;

/* The number of operators with a known cost. */
typedef struct tmeter_coverage { /* growable; the host fills it. Texts live with the report. */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str metric; /* empty: no loaded metric states coverage */
  uint64_t counted, zero_by_rule, unknown; /* nodes with a value, free by rule, without a rule */
} tmeter_coverage;

/* Flags of a formula. */
enum {
  TMETER_FORMULA_PARTIAL = 1u /* operators without a rule inside: it is a lower bound */
};

/* A value as a function of the symbols: the sum of its terms. */
typedef struct tmeter_formula { /* growable; the host fills it. All it points to lives with the report. */
  uint32_t struct_size;
  uint32_t flags;          /* TMETER_FORMULA_PARTIAL */
  size_t metric;           /* index */
  size_t module;           /* index; 0, the root, means the whole model */
  tmeter_str text;         /* "8,192·s18·s41² + 512·s18" */
  tmeter_i64_span symbols; /* indices of the graph's symbols */
  size_t term_count;       /* for `term_at`; at least 1 */
} tmeter_formula;

/* A term of a formula: numerator / denominator · ∏ symbol ^ power. */
typedef struct tmeter_term { /* growable; the host fills it. */
  uint32_t struct_size;
  uint32_t reserved;
  int64_t numerator, denominator; /* in lowest terms; the denominator is mostly 1 */
  tmeter_i64_span powers;         /* one for each of the formula's symbols */
} tmeter_term;

/* Totals under other values of the symbols, requested by --sweep. */
typedef struct tmeter_sweep { /* growable; the host fills it. Spans live with the report. */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_i64_span symbols; /* indices of the graph's symbols; empty: no sweep */
  size_t point_count;      /* 0: no sweep */
} tmeter_sweep;

/* A bound given by the user, as in --assert 'module("layer4").macs < 1G', and its outcome. */
typedef struct tmeter_assertion { /* growable; the host fills it. Texts live with the report. */
  uint32_t struct_size;
  int32_t holds;         /* non-zero: known values prove that it holds */
  tmeter_str expression; /* the user's text */
  tmeter_str subject;    /* "macs", "module(\"layer4\").macs", "coverage", "unknown" */
  tmeter_str comparison; /* "<=", "<", ">=", ">", "==", "!=" */
  tmeter_number value;   /* value of the subject; a bound on an unknown value never holds */
  tmeter_number limit;   /* the bound, its unit multiplied in */
  size_t metric;         /* index; SIZE_MAX for "coverage" (a ratio) and "unknown" (operators) */
  size_t module;         /* index; 0, the root, means the whole model */
} tmeter_assertion;

/* The report, finished: nothing in it changes. All functions are [any]; texts, spans and the graph live until
 * `write` returns. Functions that fill structs or give several values return TMETER_INVALID_ARGUMENT, without an error
 * text and with nothing stored, for an index that is not below its count, or a struct (`struct_size`
 * must be set) smaller than in 1.0; others give an empty text or NONE. */
typedef struct tmeter_report_api {
  uint32_t struct_size;
  uint32_t reserved;
  const tmeter_graph *(TMETER_ABI *graph)(const tmeter_report *); /* its graph; never null */

  /* Texts by key, empty when absent: "tool.version", "model.file" (its name), "model.path" (as given),
   * "model.size" (bytes), "analysis.seconds" (as text), "hardware", "command" (the command line as
   * typed in a shell), "run.sandbox" (its state), "sizes" (if they differ from those of the
   * file: the inputs, the recorded sizes, and how many literals were
   * computed again or kept; also in the provenance of each affected metric). */
  tmeter_str(TMETER_ABI *property)(const tmeter_report *, tmeter_str key);
  /* The user's display options: "by", "depth", "columns", "sort", "raw", "repr", "no-fold". Empty:
   * not given. */
  tmeter_str(TMETER_ABI *view)(const tmeter_report *, tmeter_str key);

  size_t(TMETER_ABI *metric_count)(const tmeter_report *); /* columns, those of all tables */
  /* In the order of plugins, then in the plugin's order. */
  tmeter_status(TMETER_ABI *metric_at)(const tmeter_report *, size_t, tmeter_metric_info *out);
  /* Any cell. For node metrics also module calls, modules and the model (rolled up); for tensor
   * metrics also modules and the model. Kind NONE: the metric does not apply. A roll-up over
   * cells without a value covers the others and is flagged PARTIAL. */
  tmeter_number(TMETER_ABI *cell)(const tmeter_report *, size_t metric, int32_t axis, size_t index);

  /* The coverage by the metric that states it; an empty `metric` if there is no such metric. */
  tmeter_status(TMETER_ABI *coverage)(const tmeter_report *, tmeter_coverage *out);
  size_t(TMETER_ABI *unknown_count)(const tmeter_report *); /* distinct operators without a rule */
  /* Such an operator, "acme::gated_mlp", and how many nodes it has; most frequent first. */
  tmeter_status(TMETER_ABI *unknown_at)(const tmeter_report *, size_t, tmeter_str *op,
                                        uint64_t *nodes);
  size_t(TMETER_ABI *warning_count)(const tmeter_report *); /* for users, each shown once */
  tmeter_str(TMETER_ABI *warning_at)(const tmeter_report *, size_t); /* one line */
  size_t(TMETER_ABI *config_count)(const tmeter_report *); /* options of all plugins in this run */
  /* "flops.convention" → "torch". */
  tmeter_status(TMETER_ABI *config_at)(const tmeter_report *, size_t, tmeter_str *key,
                                       tmeter_str *value);
  size_t(TMETER_ABI *plugin_count)(const tmeter_report *); /* the plugins of the run, the loader first */
  /* "org.tmeter.flops" → "1.0.0". */
  tmeter_status(TMETER_ABI *plugin_at)(const tmeter_report *, size_t, tmeter_str *id,
                                       tmeter_str *version);

  size_t(TMETER_ABI *finding_count)(const tmeter_report *); /* most severe first */
  /* Texts and arrays live with the report. */
  tmeter_status(TMETER_ABI *finding_at)(const tmeter_report *, size_t, tmeter_finding *out);
  tmeter_str(TMETER_ABI *finding_plugin)(const tmeter_report *, size_t); /* id of its plugin */

  /* Texts of a module, by key; empty if missing. "text": PyTorch's text of it,
   * "Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2))", or its type if nothing more is known;
   * "kernel_size": "[7, 7]"; "input_size", "output_size" of its first call: "[1, 64, 56, 56]". */
  tmeter_str(TMETER_ABI *module_fact)(const tmeter_report *, size_t module, tmeter_str key);
  /* The run of identical siblings that begins at this module: `times` repetitions of `window`
   * siblings. 0, with nothing stored, when no run begins here. Identical: type, tensors and
   * everything inside. */
  int32_t(TMETER_ABI *module_repeat)(const tmeter_report *, size_t module, size_t *window,
                                     size_t *times);

  /* No formula for values that are not polynomials, and none if all sizes are fixed. */
  size_t(TMETER_ABI *formula_count)(const tmeter_report *);
  /* By metric, then module. A peak has a formula for each piece, and the largest is its value; each is PARTIAL. */
  tmeter_status(TMETER_ABI *formula_at)(const tmeter_report *, size_t, tmeter_formula *out);
  /* A term of a formula, both by index. */
  tmeter_status(TMETER_ABI *term_at)(const tmeter_report *, size_t formula, size_t term,
                                     tmeter_term *out);
  /* The sweep of this run, if there is one. */
  tmeter_status(TMETER_ABI *sweep)(const tmeter_report *, tmeter_sweep *out);
  /* The values of a point, one for each of the sweep's symbols; the last varies fastest. */
  tmeter_i64_span(TMETER_ABI *sweep_point)(const tmeter_report *, size_t point);
  /* A metric's total at a point; NONE: it has none. */
  tmeter_number(TMETER_ABI *sweep_total)(const tmeter_report *, size_t point, size_t metric);

  size_t(TMETER_ABI *distribution_count)(const tmeter_report *); /* histograms of all plugins */
  /* In the order of their creation. Texts and arrays live with the report. */
  tmeter_status(TMETER_ABI *distribution_at)(const tmeter_report *, size_t,
                                             tmeter_distribution *out);
  size_t(TMETER_ABI *series_count)(const tmeter_report *); /* curves of all plugins */
  /* Likewise. */
  tmeter_status(TMETER_ABI *series_at)(const tmeter_report *, size_t, tmeter_series *out);

  size_t(TMETER_ABI *assertion_count)(const tmeter_report *); /* given with --assert */
  /* In the user's order. */
  tmeter_status(TMETER_ABI *assertion_at)(const tmeter_report *, size_t, tmeter_assertion *out);
} tmeter_report_api;

/* Receives the writer's text or bytes. [serial] */
typedef struct tmeter_output_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Appends; may be called any number of times. Nothing appears at the destination until the
   * writer has returned TMETER_OK. TMETER_IO: it cannot be written; give the reason to `fail`, and return the status. */
  tmeter_status(TMETER_ABI *write)(tmeter_output *, tmeter_bytes);
  int32_t(TMETER_ABI *color)(const tmeter_output *);  /* non-zero: write ANSI colours  */
  int32_t(TMETER_ABI *columns)(const tmeter_output *); /* terminal width; 0: not a terminal */
} tmeter_output_api;

#ifdef __cplusplus
}
#endif
#endif
