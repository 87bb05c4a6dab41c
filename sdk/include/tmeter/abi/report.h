/*
 * Capability "tmeter.report-writer/1": turns a finished report into text or bytes, and the host
 * interfaces through which it reads the report and writes the output.
 *
 * A writer shows every metric it is given; it never knows metrics by name. The graph of the report
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

typedef struct tmeter_writer {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name; /* "json", as in --report json; neither '.' nor '/' in it */
  /* "json": --report FILE.json means this writer, when no other has the extension or it is called so. */
  tmeter_str extension;
  /* "application/json". What is neither "text/…" nor JSON, XML, YAML or built on these ("…+xml") is
   * bytes: they are not written to a terminal. Empty: text. */
  tmeter_str media_type;
  tmeter_status(TMETER_ABI *write)(tmeter_call *, const tmeter_report *, tmeter_output *, void *user);
  void *user;
} tmeter_writer;

typedef struct tmeter_writers {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_writer *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_writers;

typedef struct tmeter_metric_info { /* growable; the host fills it. Texts live with the report. */
  uint32_t struct_size;
  uint32_t flags;
  tmeter_str id, title, unit;
  int32_t unit_kind, axis, aggregation, better;
  int32_t provenance;
  int32_t reserved;
  tmeter_str provenance_text;
  tmeter_str convention;
  tmeter_str description;
  tmeter_str plugin; /* id of the plugin it is from */
} tmeter_metric_info;

typedef struct tmeter_coverage { /* growable */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str metric; /* empty: no loaded metric states coverage */
  uint64_t counted, zero_by_rule, unknown;
} tmeter_coverage;

enum {
  TMETER_FORMULA_PARTIAL = 1u /* operators without a rule inside: it is a lower bound */
};

/* A figure as a function of the symbols: the sum of its terms. */
typedef struct tmeter_formula { /* growable; the host fills it. All it points to lives with the report. */
  uint32_t struct_size;
  uint32_t flags;
  size_t metric;
  size_t module;           /* index; 0, the root, stands for the whole model */
  tmeter_str text;         /* "8,192·s18·s41² + 512·s18" */
  tmeter_i64_span symbols; /* indices of the graph's symbols */
  size_t term_count;
} tmeter_formula;

typedef struct tmeter_term { /* growable; numerator / denominator · ∏ symbol ^ power */
  uint32_t struct_size;
  uint32_t reserved;
  int64_t numerator, denominator; /* in lowest terms; the denominator is mostly 1 */
  tmeter_i64_span powers;         /* one for each of the formula's symbols */
} tmeter_term;

/* Totals under other values of the symbols, as the user asked for with --sweep. */
typedef struct tmeter_sweep { /* growable */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_i64_span symbols; /* indices of the graph's symbols; empty: no sweep */
  size_t point_count;
} tmeter_sweep;

/* A bound the user wants kept, as in --assert 'module("layer4").macs < 1G', and what came of it. */
typedef struct tmeter_assertion { /* growable; the host fills it. Texts live with the report. */
  uint32_t struct_size;
  int32_t holds;         /* non-zero: it does, and what is known proves it */
  tmeter_str expression; /* as the user wrote it */
  tmeter_str subject;    /* "macs", "module(\"layer4\").macs", "coverage", "unknown" */
  tmeter_str comparison; /* "<=", "<", ">=", ">", "==", "!=" */
  tmeter_number value;   /* of the subject; what is not known never holds */
  tmeter_number limit;   /* the bound, its unit multiplied in */
  size_t metric;         /* index; SIZE_MAX for "coverage" (a ratio) and "unknown" (operators) */
  size_t module;         /* index; 0, the root, stands for the whole model */
} tmeter_assertion;

typedef struct tmeter_report_api { /* all [any] */
  uint32_t struct_size;
  uint32_t reserved;
  const tmeter_graph *(TMETER_ABI *graph)(const tmeter_report *);

  /* Texts by key, empty when absent: "tool.version", "model.file" (its name), "model.path" (as given),
   * "model.size" (bytes), "analysis.seconds" (as text), "hardware", "command" (the command line as a
   * shell would take it), "run.sandbox" (what held), "sizes" (when they are not those of the
   * file: for what they were worked out, what the file records, and how many of its numbers were
   * worked out again or kept; also in the provenance of each metric it is true of). */
  tmeter_str(TMETER_ABI *property)(const tmeter_report *, tmeter_str key);
  /* How the user wants it shown: "by", "depth", "columns", "sort", "raw", "repr", "no-fold". Empty when not said. */
  tmeter_str(TMETER_ABI *view)(const tmeter_report *, tmeter_str key);

  size_t(TMETER_ABI *metric_count)(const tmeter_report *);
  tmeter_status(TMETER_ABI *metric_at)(const tmeter_report *, size_t, tmeter_metric_info *out);
  /* Any cell. For node metrics also module calls, modules and the model (rolled up); for tensor
   * metrics also modules and the model. kind NONE where the metric does not apply. A roll-up over
   * cells of which some have no figure is that of the others, and flagged PARTIAL. */
  tmeter_number(TMETER_ABI *cell)(const tmeter_report *, size_t metric, int32_t axis, size_t index);

  tmeter_status(TMETER_ABI *coverage)(const tmeter_report *, tmeter_coverage *out);
  size_t(TMETER_ABI *unknown_count)(const tmeter_report *); /* distinct operators without a rule */
  tmeter_status(TMETER_ABI *unknown_at)(const tmeter_report *, size_t, tmeter_str *op,
                                        uint64_t *nodes);
  size_t(TMETER_ABI *warning_count)(const tmeter_report *);
  tmeter_str(TMETER_ABI *warning_at)(const tmeter_report *, size_t);
  /* Resolved configuration: "flops.convention" → "torch". */
  size_t(TMETER_ABI *config_count)(const tmeter_report *);
  tmeter_status(TMETER_ABI *config_at)(const tmeter_report *, size_t, tmeter_str *key,
                                       tmeter_str *value);
  size_t(TMETER_ABI *plugin_count)(const tmeter_report *);
  tmeter_status(TMETER_ABI *plugin_at)(const tmeter_report *, size_t, tmeter_str *id,
                                       tmeter_str *version);

  size_t(TMETER_ABI *finding_count)(const tmeter_report *); /* most severe first */
  /* Texts and arrays live with the report. */
  tmeter_status(TMETER_ABI *finding_at)(const tmeter_report *, size_t, tmeter_finding *out);
  tmeter_str(TMETER_ABI *finding_plugin)(const tmeter_report *, size_t); /* id */

  /* Facts of a module in words, empty when there is none, by key: "text": as PyTorch prints it,
   * "Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2))", its type when nothing more is known;
   * "kernel_size": "[7, 7]"; "input_size", "output_size" of its first call: "[1, 64, 56, 56]". */
  tmeter_str(TMETER_ABI *module_fact)(const tmeter_report *, size_t module, tmeter_str key);
  /* The run of identical siblings that begins at this module: `times` repetitions of `window`
   * siblings. False (0) when no run begins here. Identical: type, tensors and everything inside. */
  int32_t(TMETER_ABI *module_repeat)(const tmeter_report *, size_t module, size_t *window,
                                     size_t *times);

  /* By metric, then module. None where a figure is no polynomial, or all sizes are fixed. */
  size_t(TMETER_ABI *formula_count)(const tmeter_report *);
  tmeter_status(TMETER_ABI *formula_at)(const tmeter_report *, size_t, tmeter_formula *out);
  tmeter_status(TMETER_ABI *term_at)(const tmeter_report *, size_t formula, size_t term,
                                     tmeter_term *out);
  tmeter_status(TMETER_ABI *sweep)(const tmeter_report *, tmeter_sweep *out);
  tmeter_i64_span(TMETER_ABI *sweep_point)(const tmeter_report *, size_t point);
  tmeter_number(TMETER_ABI *sweep_total)(const tmeter_report *, size_t point, size_t metric);

  /* In the order in which plugins gave them. Texts and arrays live with the report. */
  size_t(TMETER_ABI *distribution_count)(const tmeter_report *);
  tmeter_status(TMETER_ABI *distribution_at)(const tmeter_report *, size_t,
                                             tmeter_distribution *out);
  size_t(TMETER_ABI *series_count)(const tmeter_report *);
  tmeter_status(TMETER_ABI *series_at)(const tmeter_report *, size_t, tmeter_series *out);

  /* In the order in which the user gave them. */
  size_t(TMETER_ABI *assertion_count)(const tmeter_report *);
  tmeter_status(TMETER_ABI *assertion_at)(const tmeter_report *, size_t, tmeter_assertion *out);
} tmeter_report_api;

typedef struct tmeter_output_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Appends; may be called any number of times. Nothing appears at the destination until the
   * writer has returned TMETER_OK. */
  tmeter_status(TMETER_ABI *write)(tmeter_output *, tmeter_bytes);
  int32_t(TMETER_ABI *color)(const tmeter_output *);  /* non-zero: ANSI colours are wanted  */
  int32_t(TMETER_ABI *columns)(const tmeter_output *); /* terminal width, 0 when no terminal */
} tmeter_output_api;

#ifdef __cplusplus
}
#endif
#endif
