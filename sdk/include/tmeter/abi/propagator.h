/*
 * Capability "tmeter.propagator/1": computes all sizes of a graph again for other inputs.
 *
 * A loader that finds sizes fixed in the file pushes the graph as recorded and says with the
 * builder's `want_input` what the user asked for. The host then asks a propagator for a new graph:
 * graph in, graph out, nothing is changed in place.
 *
 * The builder handed over already has the recorded graph's properties, modules, module calls and
 * tensors; the id of each is its index in the recorded graph plus one. Left to push: values, inputs
 * (origin "given" for those wanted), nodes with their arguments and results, outputs. The host says
 * in the report that the sizes are computed; how many numbers of the program were computed
 * again, and how many that might follow from sizes were left, the propagator says with the
 * properties "literals.replaced" and "literals.kept" (decimal).
 *
 * `propagate` is [serial]. TMETER_UNSUPPORTED passes to the next propagator; TMETER_CANNOT_RUN
 * says that the graph does not work with these inputs: which operator refused, where, and what it
 * expected.
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

/* What computes sizes again. */
typedef struct tmeter_propagator {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name; /* what runs the operators, as messages name it: "LibTorch" */
  /* [serial] From the recorded graph, whose wishes `input_wanted` tells (graph.h), to the builder. Both
   * end with the call. */
  tmeter_status(TMETER_ABI *propagate)(tmeter_call *, const tmeter_graph *, tmeter_builder *,
                                       void *user);
  void *user;
} tmeter_propagator;

/* What "tmeter.propagator/1" gives. */
typedef struct tmeter_propagators {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_propagator *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_propagators;

#ifdef __cplusplus
}
#endif
#endif
