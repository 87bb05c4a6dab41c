/*
 * Capability "tmeter.propagator/1": computes all sizes of a graph again for other inputs.
 *
 * A loader that finds fixed sizes in the file pushes the recorded graph and reports by the
 * builder's `want_input` the user's request. The host then calls a propagator for a new graph:
 * graph in, graph out, nothing is changed in place.
 *
 * The builder already has the recorded graph's properties, modules, module calls and
 * tensors; the id of each is its index in the recorded graph plus one. The propagator pushes values, inputs
 * (origin "given" for requested ones), nodes with their arguments and results, and outputs. The host states
 * in the report that the sizes are computed. The propagator reports the number of recomputed
 * literals of the program, and of kept ones that might depend on sizes, by the
 * properties "literals.replaced" and "literals.kept" (decimal).
 *
 * `propagate` is [serial]. TMETER_UNSUPPORTED passes to the next propagator; TMETER_CANNOT_RUN
 * means that the graph does not accept these inputs; the text names the operator, its place and its
 * expectation.
 */
#ifndef TMETER_ABI_PROPAGATOR_H
#define TMETER_ABI_PROPAGATOR_H
#include "base.h"
#include "builder.h"
#include "graph.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_PROPAGATOR "tmeter.propagator/1"

/* A propagator. */
typedef struct tmeter_propagator {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name; /* name of the engine for messages: "LibTorch" */
  /* [serial] From the recorded graph, whose requested dims `input_wanted` gives (graph.h), to the builder. Both
   * end with the call. */
  tmeter_status(TMETER_ABI *propagate)(tmeter_call *, const tmeter_graph *, tmeter_builder *,
                                       void *user);
  void *user;
} tmeter_propagator;

/* The table of "tmeter.propagator/1". */
typedef struct tmeter_propagators {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_propagator *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_propagators;

#ifdef __cplusplus
}
#endif
#endif
