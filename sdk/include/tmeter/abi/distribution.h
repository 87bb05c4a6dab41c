/*
 * Distributions and series, for facts that one value cannot express. A distribution is a histogram:
 * the number of a tensor's elements between two edges. A series is y over x, such as the loss over the
 * pruned share. Every writer shows them with their target.
 *
 * Host interface "tmeter.host.distributions/1", [serial], in analyses and in `emit` of a tensor
 * analysis. Everything is copied.
 */
#ifndef TMETER_ABI_DISTRIBUTION_H
#define TMETER_ABI_DISTRIBUTION_H
#include "finding.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_DISTRIBUTIONS "tmeter.host.distributions/1"

/* A histogram. */
typedef struct tmeter_distribution { /* growable */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str id;    /* plain word, as for metrics: "values" */
  tmeter_str title; /* "values" */
  tmeter_str unit;  /* unit of the edges; may be empty */
  tmeter_target of; /* its target, such as a tensor */
  const double *edges;    /* bin_count + 1, increasing, finite */
  const uint64_t *counts; /* bin_count; bin i holds [edges[i], edges[i + 1]), the last one also its end */
  size_t bin_count;       /* at least 1 */
} tmeter_distribution;

/* y over x. */
typedef struct tmeter_series { /* growable */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str id, title;                        /* plain word, as for metrics; one line for people */
  tmeter_str x_title, x_unit, y_title, y_unit; /* names and units of the axes: "pruned", "%"; units may be empty */
  tmeter_target of;                            /* its target */
  const double *x, *y;                         /* finite; x increasing */
  size_t point_count;                          /* number of x and of y; at least 1 */
} tmeter_series;

/* Receives them. A refusal is the plugin's error, regardless of the plugin's return value. */
typedef struct tmeter_distributions_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* Refuses (any status except TMETER_OK) an empty id, no bins, edges that do not increase or are not finite,
   * a target outside of the graph, and sizes beyond the limits of docs/limits.md. */
  tmeter_status(TMETER_ABI *add)(tmeter_call *, const tmeter_distribution *);
  /* Refuses an empty id, no points, x that do not increase, values that are not finite, and such targets. */
  tmeter_status(TMETER_ABI *add_series)(tmeter_call *, const tmeter_series *);
} tmeter_distributions_api;

#ifdef __cplusplus
}
#endif
#endif
