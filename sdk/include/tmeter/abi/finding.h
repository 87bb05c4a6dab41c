/*
 * Findings: what a pass has to say in words – where memory peaks, what to quantize – with the
 * evidence, what to do about it and what that would change. An analysis (analysis.h) adds them
 * while it runs; an advice plugin is a plugin whose analyses produce findings instead of metrics.
 *
 * Host interface "tmeter.host.findings/1", [serial], in analyses and in `emit` of a tensor analysis, not in
 * handlers. Everything is copied. A finding belongs to its plugin, and its rule to the plugins of one family
 * (whose ids are alike up to the last dot): another family's rule of that name is another rule.
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

typedef struct tmeter_change { /* frozen: what following the advice makes of a metric's total */
  tmeter_str metric;           /* "param_bytes" */
  double from, to;             /* in the metric's unit; finite */
} tmeter_change;

/* Something that a pass has to say. */
typedef struct tmeter_finding { /* growable */
  uint32_t struct_size;
  int32_t severity;    /* TMETER_SEVERITY_… */
  tmeter_str rule;     /* plain word, stable: "memory-peak" */
  tmeter_str text;     /* what was found, one sentence, without its period */
  tmeter_str evidence; /* the values it rests on; may be empty */
  tmeter_str action;   /* how to do something about it; may be empty */
  const tmeter_target *targets; /* its subjects; if several plugins of a family find the same rule, the
                                   finding with the most subjects is kept */
  size_t target_count;          /* of `targets`; may be 0 */
  const tmeter_change *changes; /* what following the advice makes of the model's totals */
  size_t change_count;          /* of `changes`; may be 0 */
} tmeter_finding;

/* Where findings go. */
typedef struct tmeter_findings_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Refuses (any status but TMETER_OK) an empty rule or text, a severity that is not known, a change
   * that is not finite, a target the graph does not have, and sizes beyond the limits of docs/limits.md: the
   * plugin's error, whatever it returns then. */
  tmeter_status(TMETER_ABI *add)(tmeter_call *, const tmeter_finding *);
} tmeter_findings_api;

#ifdef __cplusplus
}
#endif
#endif
