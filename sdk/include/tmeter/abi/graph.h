/*
 * Reading the graph: every loader produces one, and every metric, advice and writer reads it.
 * It is a recording: operators in execution order, control flow resolved, every dim an integer
 * under the current binding of the symbols. One graph is one run of one entry point (`forward`);
 * docs/abi.md describes a future with more entry points, backward nodes and nested graphs.
 *
 *   node         one operator call: `aten::conv2d`, its arguments by schema name, its results
 *   value        tensor, scalar, text, list or none; results and constants are values alike
 *   module       the tree as in PyTorch, `layer1.0.conv1`, with its type
 *   module call  one call of a module; a module reused n times is one module with n calls
 *   tensor       parameter, buffer or constant, and the place of its bytes in the file
 *
 * Host interface "tmeter.host.graph/1". All functions [any], none can fail for handles of the same
 * graph and indices below the count; an index out of range gives null or an empty value.
 * Everything returned lives as long as the graph, but runs under other sizes (--bind, --sweep) share
 * it: dims, integers and floats are those of the present run; do not keep them beyond `configure`.
 */
#ifndef TMETER_ABI_GRAPH_H
#define TMETER_ABI_GRAPH_H
#include "base.h"
#include "dtype.h"
#include "metadata.h"
#include "storage.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_GRAPH "tmeter.host.graph/1"

/* The kind of a value. Treat an unknown kind as OTHER. */
enum {
  TMETER_VALUE_NONE = 0,
  TMETER_VALUE_TENSOR = 1,
  TMETER_VALUE_INT = 2, /* also a size computed from symbols: its value under the binding */
  TMETER_VALUE_FLOAT = 3,
  TMETER_VALUE_BOOL = 4,
  TMETER_VALUE_TEXT = 5,
  TMETER_VALUE_LIST = 6,
  TMETER_VALUE_DTYPE = 7, /* value_int gives the TMETER_DTYPE_… number */
  TMETER_VALUE_OTHER = 8  /* device, layout, generator, object: value_text names it */
};

/* The kind of a tensor. Treat an unknown kind as CONSTANT. */
enum { TMETER_TENSOR_PARAMETER = 0, TMETER_TENSOR_BUFFER = 1, TMETER_TENSOR_CONSTANT = 2 };

/* A free size, with its range in the file and its value in the present run. */
typedef struct tmeter_symbol_info { /* growable; the host fills it */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name; /* "s77" */
  int64_t min, max, value; /* max = INT64_MAX when unbounded */
  tmeter_str place; /* the first dim of an input that equals this symbol, "input_ids.0", or empty */
} tmeter_symbol_info;

/* The functions for reading a graph. The row of an entity in a table of results is its `node_index`,
 * `module_index`, `module_call_index` or `tensor_index`. */
typedef struct tmeter_graph_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* graph ------------------------------------------------------------------------------------ */
  /* Facts by key, empty when absent: "name" (class of the model), "format" ("torch.export"), "file",
   * "producer" ("torch 2.15.0"), "content" ("weights": no operators), "part" (of a checkpoint).
   * If the sizes were computed for inputs other than the file's: "sizes"
   * ("computed for x=8x3x224x224; the file records 1x3x224x224"), and, if the propagator reports
   * them, the number of the program's literals that it computed again ("literals.replaced") and of literals that
   * might depend on sizes but were kept ("literals.kept"). */
  tmeter_str(TMETER_ABI *property)(const tmeter_graph *, tmeter_str key);
  size_t(TMETER_ABI *node_count)(const tmeter_graph *); /* 0 for a file that holds only weights */
  const tmeter_node *(TMETER_ABI *node_at)(const tmeter_graph *, size_t); /* in execution order */
  size_t(TMETER_ABI *module_count)(const tmeter_graph *); /* at least 1 */
  const tmeter_module *(TMETER_ABI *module_at)(const tmeter_graph *, size_t); /* pre-order, [0] is the root */
  size_t(TMETER_ABI *module_call_count)(const tmeter_graph *); /* at least 1 */
  /* In the order of their beginnings; a call comes before its inner calls. */
  const tmeter_module_call *(TMETER_ABI *module_call_at)(const tmeter_graph *, size_t);
  size_t(TMETER_ABI *tensor_count)(const tmeter_graph *); /* each of tied ones; see `tensor_canonical` */
  const tmeter_tensor *(TMETER_ABI *tensor_at)(const tmeter_graph *, size_t); /* in the loader's order */
  size_t(TMETER_ABI *symbol_count)(const tmeter_graph *); /* 0: all sizes are fixed */
  /* TMETER_INVALID_ARGUMENT for an index that is not below the count or a struct smaller than in 1.0. */
  tmeter_status(TMETER_ABI *symbol_at)(const tmeter_graph *, size_t, tmeter_symbol_info *out);
  size_t(TMETER_ABI *input_count)(const tmeter_graph *); /* from the caller, without parameters */
  const tmeter_value *(TMETER_ABI *input_at)(const tmeter_graph *, size_t); /* a tensor, list, scalar, … */
  tmeter_str(TMETER_ABI *input_name)(const tmeter_graph *, size_t); /* "input_ids"; may be empty */
  tmeter_str(TMETER_ABI *input_origin)(const tmeter_graph *, size_t); /* "recorded", "given", … */
  size_t(TMETER_ABI *output_count)(const tmeter_graph *); /* the model's results */
  const tmeter_value *(TMETER_ABI *output_at)(const tmeter_graph *, size_t); /* in the order of return */

  /* node ------------------------------------------------------------------------------------- */
  size_t(TMETER_ABI *node_index)(const tmeter_node *);        /* its row on the axis NODE   */
  tmeter_str(TMETER_ABI *node_op)(const tmeter_node *);       /* "aten::conv2d"               */
  tmeter_str(TMETER_ABI *node_overload)(const tmeter_node *); /* "" for the default overload  */
  size_t(TMETER_ABI *node_arg_count)(const tmeter_node *); /* given in the file; defaults may be missing */
  tmeter_str(TMETER_ABI *node_arg_name)(const tmeter_node *, size_t); /* as in the schema: "stride" */
  const tmeter_value *(TMETER_ABI *node_arg)(const tmeter_node *, size_t); /* null beyond the count */
  /* By name; null: not given, so it has its default. */
  const tmeter_value *(TMETER_ABI *node_find_arg)(const tmeter_node *, tmeter_str name);
  size_t(TMETER_ABI *node_result_count)(const tmeter_node *); /* 0 for an operator without results */
  const tmeter_value *(TMETER_ABI *node_result)(const tmeter_node *, size_t); /* null beyond the count */
  const tmeter_module_call *(TMETER_ABI *node_module_call)(const tmeter_node *); /* the innermost call; never null */
  tmeter_str(TMETER_ABI *node_location)(const tmeter_node *); /* source line, if the file has it */

  /* value ------------------------------------------------------------------------------------ */
  int32_t(TMETER_ABI *value_kind)(const tmeter_value *);        /* TMETER_VALUE_…               */
  int32_t(TMETER_ABI *value_dtype)(const tmeter_value *);       /* tensors, else UNDEFINED      */
  tmeter_i64_span(TMETER_ABI *value_dims)(const tmeter_value *); /* tensors, else empty          */
  tmeter_str(TMETER_ABI *value_dim_text)(const tmeter_value *, size_t); /* "s77*2"; "" if plain */
  int64_t(TMETER_ABI *value_int)(const tmeter_value *);         /* INT, BOOL, DTYPE, else 0     */
  double(TMETER_ABI *value_float)(const tmeter_value *);        /* FLOAT; else like value_int    */
  tmeter_str(TMETER_ABI *value_text)(const tmeter_value *);     /* TEXT, OTHER, else empty      */
  size_t(TMETER_ABI *value_size)(const tmeter_value *);         /* items of a LIST, else 0      */
  const tmeter_value *(TMETER_ABI *value_at)(const tmeter_value *, size_t); /* an item; null beyond the size */
  /* The parameter, buffer or constant of the value; null for other values. */
  const tmeter_tensor *(TMETER_ABI *value_tensor)(const tmeter_value *);
  /* The node that made it, the first if several return it; null for inputs, constants and
   * values bound to a tensor, unless an operator writes into it. */
  const tmeter_node *(TMETER_ABI *value_producer)(const tmeter_value *);

  /* module ----------------------------------------------------------------------------------- */
  size_t(TMETER_ABI *module_index)(const tmeter_module *);    /* its row on the axis MODULE     */
  tmeter_str(TMETER_ABI *module_name)(const tmeter_module *); /* "conv1"; "" for the root       */
  tmeter_str(TMETER_ABI *module_path)(const tmeter_module *); /* "layer1.0.conv1"               */
  tmeter_str(TMETER_ABI *module_type)(const tmeter_module *); /* qualified: "torch.nn.….Conv2d" */
  const tmeter_module *(TMETER_ABI *module_parent)(const tmeter_module *); /* null for the root */
  size_t(TMETER_ABI *module_child_count)(const tmeter_module *); /* direct ones */
  const tmeter_module *(TMETER_ABI *module_child)(const tmeter_module *, size_t); /* in the loader's order */
  size_t(TMETER_ABI *module_calls)(const tmeter_module *); /* number of calls; 0: never in this run */
  size_t(TMETER_ABI *module_tensor_count)(const tmeter_module *); /* owned directly             */
  const tmeter_tensor *(TMETER_ABI *module_tensor)(const tmeter_module *, size_t); /* null beyond the count */
  size_t(TMETER_ABI *module_attribute_count)(const tmeter_module *); /* hyper-parameters        */
  tmeter_str(TMETER_ABI *module_attribute_name)(const tmeter_module *, size_t); /* "kernel_size" */
  const tmeter_value *(TMETER_ABI *module_attribute)(const tmeter_module *, size_t); /* a constant */

  /* module call ------------------------------------------------------------------------------ */
  size_t(TMETER_ABI *module_call_index)(const tmeter_module_call *); /* its row on the axis MODULE_CALL */
  const tmeter_module *(TMETER_ABI *module_call_module)(const tmeter_module_call *); /* never null */
  /* The calling call; null for the root's. */
  const tmeter_module_call *(TMETER_ABI *module_call_parent)(const tmeter_module_call *);

  /* tensor ----------------------------------------------------------------------------------- */
  size_t(TMETER_ABI *tensor_index)(const tmeter_tensor *);    /* its row on the axis TENSOR     */
  tmeter_str(TMETER_ABI *tensor_name)(const tmeter_tensor *); /* "layer1.0.conv1.weight"        */
  int32_t(TMETER_ABI *tensor_kind)(const tmeter_tensor *);    /* TMETER_TENSOR_…                */
  int32_t(TMETER_ABI *tensor_dtype)(const tmeter_tensor *);   /* TMETER_DTYPE_…; FLOAT32 if encoded */
  tmeter_i64_span(TMETER_ABI *tensor_dims)(const tmeter_tensor *); /* empty for a scalar        */
  tmeter_i64_span(TMETER_ABI *tensor_strides)(const tmeter_tensor *); /* elements               */
  int64_t(TMETER_ABI *tensor_numel)(const tmeter_tensor *);   /* elements: the product of dims  */
  int32_t(TMETER_ABI *tensor_trainable)(const tmeter_tensor *); /* requires_grad                */
  const tmeter_module *(TMETER_ABI *tensor_owner)(const tmeter_tensor *); /* never null         */
  /* The first tensor with the same storage and layout: itself unless tied. Count only tensors
   * that are their own canonical tensor. */
  const tmeter_tensor *(TMETER_ABI *tensor_canonical)(const tmeter_tensor *);
  /* Offset of the first element in its file, in bytes (of a model in several files: in the file that has
   * it); -1: no file has its bytes, or they are compressed. */
  int64_t(TMETER_ABI *tensor_file_offset)(const tmeter_tensor *);

  /* graph, for propagators: dims that the user requested for the input; else empty. */
  tmeter_i64_span(TMETER_ABI *input_wanted)(const tmeter_graph *, size_t);

  /* The name of a node in the file, "conv2d_1", by which other tools find it; may be empty. */
  tmeter_str(TMETER_ABI *node_name)(const tmeter_node *);

  /* All nodes inside a module call, including those of inner calls, in execution order. */
  tmeter_node_span(TMETER_ABI *module_call_nodes)(const tmeter_module_call *);
  /* The tensors from outside that these use, without parameters, in the order of their first use. */
  tmeter_value_span(TMETER_ABI *module_call_inputs)(const tmeter_module_call *);
  /* The tensors that they make and that are used outside or are the model's results, in the order of
   * their making. */
  tmeter_value_span(TMETER_ABI *module_call_outputs)(const tmeter_module_call *);

  /* Bytes of the tensor's elements as stored, with all its parts. For a tensor that is not
   * encoded, numel × the size of an element. -1: unknown. */
  int64_t(TMETER_ABI *tensor_stored_bytes)(const tmeter_tensor *);
  /* TMETER_INVALID_ARGUMENT for a struct smaller than its first version. */
  tmeter_status(TMETER_ABI *tensor_storage)(const tmeter_tensor *, tmeter_tensor_storage *out);
  /* The same status for an index beyond the count. */
  tmeter_status(TMETER_ABI *tensor_part_at)(const tmeter_tensor *, size_t, tmeter_stored_part *out);

  /* Facts from the file (metadata.h), in the order of the file. */
  size_t(TMETER_ABI *metadata_count)(const tmeter_graph *);
  /* TMETER_INVALID_ARGUMENT beyond the count or for a struct smaller than its first version. */
  tmeter_status(TMETER_ABI *metadata_at)(const tmeter_graph *, size_t, tmeter_metadata *out);
  /* TMETER_UNSUPPORTED: the file does not have it. */
  tmeter_status(TMETER_ABI *metadata_find)(const tmeter_graph *, tmeter_str space, tmeter_str key,
                                           tmeter_metadata *out);
} tmeter_graph_api;

#ifdef __cplusplus
}
#endif
#endif
