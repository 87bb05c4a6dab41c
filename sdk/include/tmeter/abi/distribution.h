/*
 * Distributions and series: what a figure cannot say alone. A distribution is a histogram, how many
 * elements of a tensor lie between two edges; a series is y over x, the loss over the share that is
 * pruned. Every writer shows them for the thing they belong to.
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

typedef struct tmeter_distribution { /* growable */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str id;    /* plain word, as for metrics: "values" */
  tmeter_str title; /* "values" */
  tmeter_str unit;  /* of the edges; may be empty */
  tmeter_target of;
  const double *edges;    /* bin_count + 1, rising, finite */
  const uint64_t *counts; /* bin_count; bin i holds [edges[i], edges[i + 1]), the last its end too */
  size_t bin_count;
} tmeter_distribution;

typedef struct tmeter_series { /* growable */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str id, title;
  tmeter_str x_title, x_unit, y_title, y_unit;
  tmeter_target of;
  const double *x, *y; /* finite; x rising */
  size_t point_count;
} tmeter_series;

typedef struct tmeter_distributions_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* TMETER_INVALID_ARGUMENT for an empty id, edges that do not rise, numbers that are not finite,
   * or a target the graph does not have. */
  tmeter_status(TMETER_ABI *add)(tmeter_call *, const tmeter_distribution *);
  tmeter_status(TMETER_ABI *add_series)(tmeter_call *, const tmeter_series *);
} tmeter_distributions_api;

#ifdef __cplusplus
}
#endif
#endif
