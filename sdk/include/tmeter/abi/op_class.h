/*
 * Capability "tmeter.op-class/1": the kind of work of an in-house operator, for metrics that treat
 * whole families alike. The class selects the values of the hardware profile for the operator's arithmetic,
 * and its share of the peak. Operators of PyTorch have a class by their name (cpp/op_class.hpp).
 *
 * Read by `op_class` of "tmeter.host.results/1".
 */
#ifndef TMETER_ABI_OP_CLASS_H
#define TMETER_ABI_OP_CLASS_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_OP_CLASS "tmeter.op-class/1"

/* The class of one operator. If two plugins give it different classes, that is an error naming both. */
typedef struct tmeter_op_class {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str op; /* "acme::gated_mlp"; or a single overload, "acme::gated_mlp.out" */
  /* "convolution", "matmul", "attention", "recurrent", "embedding", "normalization", "softmax",
   * "pooling", "activation", "elementwise", "reduction", "interpolation", "gather", "sort",
   * "creation", "random", "copy", "view", "control". Any other word is read as "other". */
  tmeter_str name;
} tmeter_op_class;

/* The table of "tmeter.op-class/1". */
typedef struct tmeter_op_classes {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_op_class *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_op_classes;

#ifdef __cplusplus
}
#endif
#endif
