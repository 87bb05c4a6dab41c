/*
 * Capability "tmeter.op-class/1": what kind of work an in-house operator does, for metrics that treat
 * whole families alike: which values of a hardware profile hold for its arithmetic, which share of
 * the peak it reaches. Operators of PyTorch have a class by their name (cpp/op_class.hpp).
 *
 * Asked for with `op_class` of "tmeter.host.results/1".
 */
#ifndef TMETER_ABI_OP_CLASS_H
#define TMETER_ABI_OP_CLASS_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_OP_CLASS "tmeter.op-class/1"

/* The class of one operator. Two plugins that say otherwise of the same one are an error naming both. */
typedef struct tmeter_op_class {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str op; /* "acme::gated_mlp"; with an overload, "acme::gated_mlp.out", of that alone */
  /* "convolution", "matmul", "attention", "recurrent", "embedding", "normalization", "softmax",
   * "pooling", "activation", "elementwise", "reduction", "interpolation", "gather", "sort",
   * "creation", "random", "copy", "view", "control". Another word is read as "other". */
  tmeter_str name;
} tmeter_op_class;

/* What "tmeter.op-class/1" gives. */
typedef struct tmeter_op_classes {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_op_class *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_op_classes;

#ifdef __cplusplus
}
#endif
#endif
