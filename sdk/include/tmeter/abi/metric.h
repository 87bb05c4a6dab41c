/*
 * Capability "tmeter.metrics/1": the columns a plugin adds to every report, and the host interface
 * "tmeter.host.results/1" through which values are emitted and read back.
 *
 * A metric that has no stated convention is worth little: `convention` is mandatory ("1 MAC = one
 * multiplication and one addition; bias not counted").
 */
#ifndef TMETER_ABI_METRIC_H
#define TMETER_ABI_METRIC_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_METRICS "tmeter.metrics/1"
#define TMETER_HOST_RESULTS "tmeter.host.results/1"

/* What the number is, so that writers can scale it: counts by 1000, bytes by 1024, time by unit. */
enum {
  TMETER_UNIT_COUNT = 0,
  TMETER_UNIT_BYTE = 1,
  TMETER_UNIT_OP = 2,
  TMETER_UNIT_JOULE = 3,
  TMETER_UNIT_SECOND = 4,
  TMETER_UNIT_RATIO = 5,
  TMETER_UNIT_WATT = 6,
  TMETER_UNIT_OTHER = 7
};

/* How a module's or the model's figure follows from those inside it. Cells of kind NONE take no
 * part; zero by rule counts as 0; what is unknown or unavailable makes the figure partial. An aggregation
 * not known is taken as NONE. */
enum {
  TMETER_AGGREGATE_SUM = 0,
  TMETER_AGGREGATE_MAX = 1,
  TMETER_AGGREGATE_LAST = 2, /* of what ran last; of tensors the last in the file. Not known when
                                that has no figure */
  /* Weighted by the metric `weight` at the same nodes or tensors, which must be loaded: a plugin that
   * does not define it itself names the one that does in what it needs. The mean of a module is that
   * of all nodes or tensors inside, however they are nested. */
  TMETER_AGGREGATE_WEIGHTED_MEAN = 3,
  TMETER_AGGREGATE_NONE = 4
};

enum { TMETER_BETTER_LOWER = 0, TMETER_BETTER_HIGHER = 1, TMETER_BETTER_NEITHER = 2 };

enum {
  TMETER_PROVENANCE_COMPUTED = 0,
  TMETER_PROVENANCE_MEASURED = 1,   /* text: repeats and spread */
  TMETER_PROVENANCE_ESTIMATED = 2,  /* text: by which model     */
  TMETER_PROVENANCE_UNAVAILABLE = 3 /* text: why                */
};

enum {
  TMETER_METRIC_DETAIL = 1u,  /* in JSON and on request; not a default column */
  TMETER_METRIC_COVERAGE = 2u, /* its counted / zero / unknown nodes are the report's coverage */
  TMETER_METRIC_TENSORS = 4u   /* a column of the table of tensors, not of the module tree */
};

typedef struct tmeter_metric_desc {
  uint32_t struct_size;
  uint32_t flags;
  tmeter_str id;     /* [a-z][a-z0-9_]* */
  tmeter_str title;  /* "MACs" */
  tmeter_str unit;   /* "MAC", "B", "J" */
  int32_t unit_kind;
  int32_t axis; /* NODE, TENSOR, MODULE_CALL or MODEL: where values are emitted */
  int32_t aggregation;
  int32_t better;
  tmeter_str weight; /* id, for WEIGHTED_MEAN; of the same axis */
  tmeter_str convention;
  tmeter_str description;
} tmeter_metric_desc;

typedef struct tmeter_metrics {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_metric_desc *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_metrics;

typedef struct tmeter_results_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* In a handler: the value of the metric and node being evaluated. The last one counts. */
  tmeter_status(TMETER_ABI *emit)(tmeter_call *, tmeter_number);

  /* In an analysis: a cell of a metric it declared to produce. */
  tmeter_status(TMETER_ABI *emit_at)(tmeter_call *, tmeter_str metric, int32_t axis, size_t index,
                                     tmeter_number);

  /* A metric's value at a node (from a handler), or any cell incl. roll-ups (from an analysis).
   * In handlers this evaluates what is needed; a cycle is an error naming both metrics.
   * TMETER_UNSUPPORTED when no loaded plugin has this metric. */
  tmeter_status(TMETER_ABI *read)(tmeter_call *, tmeter_str metric, int32_t axis, size_t index,
                                  tmeter_number *out);

  tmeter_status(TMETER_ABI *set_convention)(tmeter_call *, tmeter_str metric, tmeter_str text);
  tmeter_status(TMETER_ABI *set_provenance)(tmeter_call *, tmeter_str metric, int32_t provenance,
                                            tmeter_str text);
} tmeter_results_api;

#ifdef __cplusplus
}
#endif
#endif
