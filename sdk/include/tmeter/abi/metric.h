/*
 * Capability "tmeter.metrics/1": the columns a plugin adds to every report, and the host interface
 * "tmeter.host.results/1" through which values are emitted and read back.
 *
 * A metric is of little use without its convention, so `convention` is mandatory ("1 MAC = one
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

/* The unit of the number, which decides its scaling: counts by 1000, bytes by 1024, time by unit. COUNT,
 * BYTE and OP are never below 0. */
enum {
  TMETER_UNIT_COUNT = 0,  /* things: parameters, nodes */
  TMETER_UNIT_BYTE = 1,
  TMETER_UNIT_OP = 2,     /* operations: MACs, FLOPs   */
  TMETER_UNIT_JOULE = 3,
  TMETER_UNIT_SECOND = 4,
  TMETER_UNIT_RATIO = 5,  /* 1 is the whole            */
  TMETER_UNIT_WATT = 6,
  TMETER_UNIT_OTHER = 7   /* shown unscaled            */
};

/* The rule for a module's or the model's value from those inside it. Cells of kind NONE take no
 * part, and neither do those of kind IN_MODULE, whose share is in the value of the call; zero by rule counts
 * as 0; an unknown or unavailable value makes the roll-up partial. An unknown
 * aggregation is treated as NONE, with a warning. */
enum {
  TMETER_AGGREGATE_SUM = 0,  /* a shared tensor counts once */
  TMETER_AGGREGATE_MAX = 1,
  TMETER_AGGREGATE_LAST = 2, /* of the last node to run; of tensors the last in the file. Unknown if
                                that has no value */
  /* Weighted by the metric `weight` at the same nodes or tensors. It must be loaded: a plugin that
   * does not define it itself names its owner among the required plugins. The mean of a module is that
   * of all nodes or tensors inside, at any depth. */
  TMETER_AGGREGATE_WEIGHTED_MEAN = 3,
  TMETER_AGGREGATE_NONE = 4  /* no value, unless an analysis emits one there */
};

/* The direction of improvement, for comparisons. */
enum { TMETER_BETTER_LOWER = 0, TMETER_BETTER_HIGHER = 1, TMETER_BETTER_NEITHER = 2 };

/* The origin of a metric's values, with a text. */
enum {
  TMETER_PROVENANCE_COMPUTED = 0,   /* exactly, from the graph; the default */
  TMETER_PROVENANCE_MEASURED = 1,   /* text: repeats and spread */
  TMETER_PROVENANCE_ESTIMATED = 2,  /* text: the model's name   */
  TMETER_PROVENANCE_UNAVAILABLE = 3 /* text: the reason         */
};

/* Flags of a metric. */
enum {
  TMETER_METRIC_DETAIL = 1u,  /* in JSON and on request; not a default column */
  TMETER_METRIC_COVERAGE = 2u, /* its counted / zero / unknown nodes are the report's coverage */
  TMETER_METRIC_TENSORS = 4u,  /* a column of the table of tensors, not of the module tree */
  /* Computed on request because it takes long: if --columns, --sort, --assert or an option names it,
   * or another plugin's analysis requires it. Otherwise reports lack the column, reading it
   * gives TMETER_UNSUPPORTED, emitted values are dropped, and an analysis that produces nothing
   * else is not run. Hosts without support for the flag always compute it. */
  TMETER_METRIC_ON_REQUEST = 8u,
  /* For the whole model: the plugin's metrics with PART form a sum, and reports draw them as one bar against the
   * plugin's metric with CAPACITY if it has one. */
  TMETER_METRIC_PART = 16u,
  TMETER_METRIC_CAPACITY = 32u
};

/* A column. Texts are one line each, without control characters, and live until `deinit`. */
typedef struct tmeter_metric_desc {
  uint32_t struct_size;
  uint32_t flags;    /* TMETER_METRIC_… */
  tmeter_str id;     /* [a-z0-9_]+; no other loaded plugin has it */
  tmeter_str title;  /* "MACs" */
  tmeter_str unit;   /* "MAC", "B", "J" */
  int32_t unit_kind;      /* TMETER_UNIT_… */
  /* NODE, TENSOR, MODULE_CALL or MODEL: where values are emitted. A metric on an axis that is unknown to the
   * host is left out with a warning: its handlers are not called, and emitting it has no effect. */
  int32_t axis;
  int32_t aggregation;    /* TMETER_AGGREGATE_… */
  int32_t better;         /* TMETER_BETTER_… */
  tmeter_str weight;      /* id, for WEIGHTED_MEAN; of the same axis */
  tmeter_str convention;  /* its definition: included and excluded costs; not empty */
  tmeter_str description; /* may be empty */
} tmeter_metric_desc;

/* The table of "tmeter.metrics/1". */
typedef struct tmeter_metrics {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_metric_desc *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_metrics;

/* The memory of an operator's result. Read an unknown value as UNKNOWN. */
enum {
  TMETER_MEMORY_UNKNOWN = 0, /* not known                                                       */
  TMETER_MEMORY_OWN = 1,     /* its own                                                         */
  TMETER_MEMORY_VIEW = 2,    /* an argument's: `Tensor(a)`, or the operator makes views         */
  TMETER_MEMORY_ARGUMENT = 3 /* it is an argument, which the operator has changed: `Tensor(a!)` */
};

/* Values, [serial]. Misuse (emitting in the wrong kind of call, for another plugin's metric, on
 * another axis, for a row that does not exist; a number that is not finite, of an unknown kind, or below 0
 * for a count) sets the call's error and is the plugin's error, regardless of the plugin's
 * return value. Calls of loaders, propagators, shape rules and writers have no values. */
typedef struct tmeter_results_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* In a handler: the value of the metric and node (or module call) being evaluated. The last one counts,
   * and one is required before it returns TMETER_OK. */
  tmeter_status(TMETER_ABI *emit)(tmeter_call *, tmeter_number);

  /* In an analysis: a cell of a metric it declared to produce, on the metric's own axis; on those of
   * modules, module calls and the model, too, for the aggregation NONE. The last one counts. */
  tmeter_status(TMETER_ABI *emit_at)(tmeter_call *, tmeter_str metric, int32_t axis, size_t index,
                                     tmeter_number);

  /* Any cell, roll-ups included, from handlers and analyses: its prerequisites are evaluated first (at a
   * node, only that node; for a roll-up or the output of an analysis, everything), so the order of
   * reads does not matter. A cycle is an error naming all participants. An analysis reads its own metrics as
   * emitted so far. Not in `configure`. Kind NONE: there is no such row.
   * TMETER_UNSUPPORTED when no loaded plugin has this metric. */
  tmeter_status(TMETER_ABI *read)(tmeter_call *, tmeter_str metric, int32_t axis, size_t index,
                                  tmeter_number *out);

  /* The convention of an own metric in this run, if options or the machine decide it. Copied; not empty. Best in
   * `configure`. */
  tmeter_status(TMETER_ABI *set_convention)(tmeter_call *, tmeter_str metric, tmeter_str text);
  /* The origin of an own metric's values, TMETER_PROVENANCE_…, with a text;
   * copied. */
  tmeter_status(TMETER_ABI *set_provenance)(tmeter_call *, tmeter_str metric, int32_t provenance,
                                            tmeter_str text);

  /* The class that a loaded plugin gives to a node's operator (op_class.h); empty: none does. Lives until
   * `deinit`. */
  tmeter_status(TMETER_ABI *op_class)(tmeter_call *, const tmeter_node *, tmeter_str *name);

  /* The two below came after 1.1: TMETER_IS_SET. They follow the schema of the plugin with a shape rule
   * for the operator; without one, the class of work, a trailing `_` in the name
   * and an argument `out` decide. Two plugins with different schemas are an error naming both. */

  /* The memory of a node's result, TMETER_MEMORY_…; for VIEW and ARGUMENT, `argument` is the index of the
   * node's argument, which may be a list. TMETER_INVALID_ARGUMENT for a missing result. */
  tmeter_status(TMETER_ABI *result_memory)(tmeter_call *, const tmeter_node *, size_t result,
                                           int32_t *memory, size_t *argument);
  /* Whether the operator writes into an argument: 1 or 0. TMETER_UNSUPPORTED: unknown;
   * TMETER_INVALID_ARGUMENT for a missing argument. */
  tmeter_status(TMETER_ABI *argument_written)(tmeter_call *, const tmeter_node *, size_t argument,
                                              int32_t *written);
} tmeter_results_api;

#ifdef __cplusplus
}
#endif
#endif
