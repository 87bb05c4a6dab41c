/*
 * Findings: statements of a pass in words – where memory peaks, which weights to quantize – with the
 * evidence, the remedy and its effect. An analysis (analysis.h) adds them
 * while it runs; an advice plugin is a plugin whose analyses produce findings instead of metrics.
 *
 * Host interface "tmeter.host.findings/1", [serial], in analyses and in `emit` of a tensor analysis, not in
 * handlers. Everything is copied. A finding belongs to its plugin, and its rule to the plugins of one family
 * (whose ids are equal up to the last dot): another family's rule of that name is another rule.
 */
#ifndef TMETER_ABI_FINDING_H
#define TMETER_ABI_FINDING_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_FINDINGS "tmeter.host.findings/1"

/* How much a finding matters; reports list the most severe first. */
enum {
  TMETER_SEVERITY_INFO = 0,    /* worth knowing                    */
  TMETER_SEVERITY_ADVICE = 1,  /* something can be gained          */
  TMETER_SEVERITY_WARNING = 2, /* something is likely wrong        */
  TMETER_SEVERITY_ERROR = 3    /* something is wrong (NaN weights) */
};

typedef struct tmeter_target { /* frozen: a row of a table */
  int32_t axis;                /* TMETER_AXIS_… */
  int32_t reserved;
  size_t index;                /* the row: `node_index`, `module_index`, …; 0 for MODEL */
} tmeter_target;

typedef struct tmeter_change { /* frozen: a metric's total after following the advice */
  tmeter_str metric;           /* "param_bytes" */
  double from, to;             /* in the metric's unit; finite */
} tmeter_change;

/* One finding. */
typedef struct tmeter_finding { /* growable */
  uint32_t struct_size;
  int32_t severity;    /* TMETER_SEVERITY_… */
  tmeter_str rule;     /* plain word, stable: "memory-peak" */
  tmeter_str text;     /* the fact, one sentence without its period */
  tmeter_str evidence; /* the values behind it; may be empty */
  tmeter_str action;   /* the remedy; may be empty */
  const tmeter_target *targets; /* its subjects; if several plugins of a family find the same rule, the
                                   finding with the most subjects is kept */
  size_t target_count;          /* number of `targets`; may be 0 */
  const tmeter_change *changes; /* the model's totals after following the advice */
  size_t change_count;          /* number of `changes`; may be 0 */
} tmeter_finding;

/* Receives findings. */
typedef struct tmeter_findings_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Refuses (any status except TMETER_OK) an empty rule or text, an unknown severity, a change
   * that is not finite, a target outside of the graph, and sizes beyond the limits of docs/limits.md. A refusal is the
   * plugin's error, regardless of its return value. */
  tmeter_status(TMETER_ABI *add)(tmeter_call *, const tmeter_finding *);
} tmeter_findings_api;

#ifdef __cplusplus
}
#endif
#endif
