/*
 * Building a graph: loaders push its parts in execution order.
 *
 * Each item has an id; 0 means "none". The host checks all input: ids must exist,
 * a value must be defined (an input, a bound tensor, a constant or the result of an earlier node)
 * before a node uses it, products of dims must fit 63 bits, and counts stay below the limits in
 * docs/limits.md. A violation sets the call's error, naming the node, and returns
 * TMETER_BAD_MODEL; the loader should return that status at once. The first refusal is permanent: every later
 * function of the same builder returns it again, and a loader or propagator that returns TMETER_OK
 * nevertheless has failed. An error independent of the file (a null array with a
 * count above 0, `reserved` not 0) is the plugin's failure, too.
 *
 * Host interface "tmeter.host.builder/1", [serial]. Texts and arrays are copied; an array may be null
 * when its count is 0. Functions that give an id store it in `out`, which is never null and unchanged by a
 * failure. Ids count from 1, separately for each kind of item, and are valid for this builder only.
 */
#ifndef TMETER_ABI_BUILDER_H
#define TMETER_ABI_BUILDER_H
#include "base.h"
#include "dtype.h"
#include "metadata.h"
#include "storage.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_BUILDER "tmeter.host.builder/1"

/* The id of a symbol, expression, module, module call, tensor, value or node of one builder; 0: none. */
typedef uint32_t tmeter_id;

/* A dim or size: `expr` = 0 → the integer `value`; else the expression decides and `value` is
 * ignored. Frozen. */
typedef struct tmeter_dim {
  int64_t value;  /* a dim is 0 or more */
  tmeter_id expr; /* an expression; 0: none */
  uint32_t reserved;
} tmeter_dim;

/* Operators of expressions over symbols, with sympy's semantics (floor division rounds down). n-ary ones take 1
 * to 1,000 operands. A size whose expression has no 64-bit integer value (a division by 0, an overflow, a
 * negative power) refuses the graph for these sizes. */
enum {
  TMETER_EXPR_ADD = 1,      /* n-ary  */
  TMETER_EXPR_MUL = 2,      /* n-ary  */
  TMETER_EXPR_POW = 3,      /* binary */
  TMETER_EXPR_FLOORDIV = 4, /* binary */
  TMETER_EXPR_MOD = 5,      /* binary */
  TMETER_EXPR_MAX = 6,      /* n-ary  */
  TMETER_EXPR_MIN = 7,      /* n-ary  */
  TMETER_EXPR_CEILDIV = 8,  /* binary */
  TMETER_EXPR_TRUEDIV = 9,  /* binary; a remainder refuses the graph */
  TMETER_EXPR_EQ = 10,      /* binary, gives 0 or 1; so do those below */
  TMETER_EXPR_NE = 11,      /* != */
  TMETER_EXPR_LT = 12,      /* <  */
  TMETER_EXPR_LE = 13,      /* <= */
  TMETER_EXPR_GT = 14,      /* >  */
  TMETER_EXPR_GE = 15,      /* >= */
  TMETER_EXPR_WHERE = 16    /* condition, then, else */
};

/* A parameter, buffer or constant for `tensor`. */
typedef struct tmeter_tensor_desc { /* growable */
  uint32_t struct_size;
  int32_t kind;     /* TMETER_TENSOR_… */
  tmeter_str name;  /* fully qualified, "layer1.0.conv1.weight"; unique unless empty */
  tmeter_id owner;  /* its owner; must exist */
  int32_t dtype;    /* TMETER_DTYPE_… */
  const int64_t *dims;    /* `rank` items, each at least 0; null when rank is 0 */
  const int64_t *strides; /* in elements, `rank` items; null: contiguous */
  size_t rank;            /* at most 64; 0: a scalar */
  /* Tensors with equal non-empty storage keys share memory (tied when also equal in offset, dims
   * and strides). Empty: a storage of its own. */
  tmeter_str storage_key;
  int64_t storage_offset; /* in elements, from the beginning of the storage */
  int64_t file_offset;    /* offset of the storage in bytes; -1: not in the file */
  int64_t storage_bytes;  /* size in the file; 0 for weightless files. The tensor must be inside, and the
                             storage inside its file, else TMETER_BAD_MODEL */
  int32_t trainable;      /* non-zero: requires_grad */
  int32_t reserved;
  const tmeter_source *source; /* the file of `file_offset` (`companion`); null: the model file itself */

  /* The encoding of elements that are not stored one by one as `dtype`: an id, "ggml.q4_k", "gptq", in lower-case
   * letters, digits, '.', '_' and '-'. Empty: one by one, and all members below are 0.
   * `dims` are those of the weight that the model uses, and `dtype` is TMETER_DTYPE_FLOAT32, the output of a decoder
   * (draft/decoder.h); another type is permitted only without a `file_offset`, when nothing is decoded. `file_offset` and `storage_bytes` are the place of the encoded
   * elements, in an order that the encoding defines: `strides` is null and `storage_offset` 0. */
  tmeter_str encoding;
  /* Further parameters for the decoder: "bits=4 group=128", the encoding's words with values, separated
   * by spaces. Reports show them. */
  tmeter_str encoding_parameters;
  int64_t block_elements; /* elements of a block, the unit of storage and decoding; 0: unknown */
  int64_t block_bytes;    /* bytes of a block in the storage; 0: unknown */
  const tmeter_stored_part *const *parts; /* `part_count` items; null when it is 0 */
  uint32_t part_count;    /* at most 16 */
  int32_t stored_dtype;   /* TMETER_DTYPE_… of the stored elements: INT32 for GPTQ; 0, bytes, for blocks */
} tmeter_tensor_desc;

/* An argument of a node. */
typedef struct tmeter_arg { /* frozen */
  tmeter_str name; /* as in the operator's schema: "input" */
  tmeter_id value; /* must exist and be defined */
  uint32_t reserved;
} tmeter_arg;

/* A call of an operator for `node`. */
typedef struct tmeter_node_desc { /* growable */
  uint32_t struct_size;
  tmeter_id module_call; /* the innermost enclosing call; must exist */
  tmeter_str op;       /* "aten::conv2d" */
  tmeter_str overload; /* "" for the default */
  const tmeter_arg *args;   /* the given arguments, in the order of the schema */
  size_t arg_count;         /* number of `args` */
  const tmeter_id *results; /* values; a list value represents all its members */
  size_t result_count;      /* number of `results`; may be 0 */
  tmeter_str location;      /* source line, "model.py:12"; may be empty */
} tmeter_node_desc;

/* The functions of a builder. Every status except TMETER_OK comes with the call's error text. */
typedef struct tmeter_builder_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* A fact about the model; graph.h lists the known keys. The last value of a key counts. The
   * host sets "file" itself. */
  tmeter_status(TMETER_ABI *property)(tmeter_builder *, tmeter_str key, tmeter_str value);

  /* A symbol that sizes depend on, with its range in the file (`max` INT64_MAX:
   * unbounded) and its value until the user binds another. */
  tmeter_status(TMETER_ABI *symbol)(tmeter_builder *, tmeter_str name, int64_t min, int64_t max,
                                    int64_t value, tmeter_id *out);
  tmeter_status(TMETER_ABI *expr_int)(tmeter_builder *, int64_t value, tmeter_id *out); /* a constant */
  tmeter_status(TMETER_ABI *expr_symbol)(tmeter_builder *, tmeter_id symbol, tmeter_id *out); /* the symbol itself */
  /* An operator (TMETER_EXPR_…) over existing expressions. TMETER_BAD_MODEL for an unknown operator
   * or a wrong number of operands. */
  tmeter_status(TMETER_ABI *expr)(tmeter_builder *, int32_t op, const tmeter_id *operands,
                                  size_t count, tmeter_id *out);

  /* A module. `parent` 0 makes the root, which is pushed once and first. A graph without it is the loader's failure. `name` is the last part of the path, and `type`
   * the qualified class, "torch.nn.modules.conv.Conv2d". Paths are unique. */
  tmeter_status(TMETER_ABI *module)(tmeter_builder *, tmeter_id parent, tmeter_str name,
                                    tmeter_str type, tmeter_id *out);
  /* A hyper-parameter of the module, "kernel_size": `value` is a constant. */
  tmeter_status(TMETER_ABI *module_attribute)(tmeter_builder *, tmeter_id module, tmeter_str name,
                                              tmeter_id value);
  /* One call of a module, in the order of their beginnings; `parent` is the calling call, 0 only
   * for the root's call. A graph without calls gets one call of the root. */
  tmeter_status(TMETER_ABI *module_call)(tmeter_builder *, tmeter_id module, tmeter_id parent,
                                         tmeter_id *out);

  /* A parameter, buffer or constant. The struct and all it points to are copied, except `source`. */
  tmeter_status(TMETER_ABI *tensor)(tmeter_builder *, const tmeter_tensor_desc *, tmeter_id *out);

  /* The value "none". It and those below are defined constants, except
   * `value_tensor` and lists with such a member. */
  tmeter_status(TMETER_ABI *value_none)(tmeter_builder *, tmeter_id *out);
  /* A tensor that an input or a node has yet to define. At most 64 dims, each at least 0. */
  tmeter_status(TMETER_ABI *value_tensor)(tmeter_builder *, int32_t dtype, const tmeter_dim *dims,
                                          size_t rank, tmeter_id *out);
  /* A parameter, buffer or constant as a value, with its type and dims. */
  tmeter_status(TMETER_ABI *value_bound)(tmeter_builder *, tmeter_id tensor, tmeter_id *out);
  /* An integer, or the size of an expression. */
  tmeter_status(TMETER_ABI *value_int)(tmeter_builder *, tmeter_dim value, tmeter_id *out);
  tmeter_status(TMETER_ABI *value_float)(tmeter_builder *, double value, tmeter_id *out); /* may be NaN or infinite */
  tmeter_status(TMETER_ABI *value_bool)(tmeter_builder *, int32_t value, tmeter_id *out); /* non-zero: true */
  tmeter_status(TMETER_ABI *value_text)(tmeter_builder *, tmeter_str value, tmeter_id *out); /* UTF-8 */
  /* TMETER_DTYPE_… as an argument, `dtype=torch.float16`. */
  tmeter_status(TMETER_ABI *value_dtype)(tmeter_builder *, int32_t dtype, tmeter_id *out);
  /* A device, layout, generator, object: its name as text, "cpu". */
  tmeter_status(TMETER_ABI *value_other)(tmeter_builder *, tmeter_str text, tmeter_id *out);
  /* A list of existing values; at most 64 nested lists. */
  tmeter_status(TMETER_ABI *value_list)(tmeter_builder *, const tmeter_id *items, size_t count,
                                        tmeter_id *out);

  /* The model's next input. `origin` is the source of its sizes: "recorded", "given", "inferred".
   * Defines the value (all members of a list). */
  tmeter_status(TMETER_ABI *input)(tmeter_builder *, tmeter_str name, tmeter_str origin,
                                   tmeter_id value);
  tmeter_status(TMETER_ABI *output)(tmeter_builder *, tmeter_id value); /* the model's next result */

  /* The next operator in execution order. Defines its results. */
  tmeter_status(TMETER_ABI *node)(tmeter_builder *, const tmeter_node_desc *, tmeter_id *out);

  /* Reports that the user requested other dims for the input `name`, a tensor pushed with the recorded
   * sizes, and that the file alone does not determine the sizes that follow from them: the host
   * calls a propagator (propagator.h). The rank is that of the input, which must have been pushed. */
  tmeter_status(TMETER_ABI *want_input)(tmeter_builder *, tmeter_str name, const int64_t *dims,
                                        size_t rank);

  /* The node's name in the file, if it has one: the name of its first result, "conv2d_1". */
  tmeter_status(TMETER_ABI *node_name)(tmeter_builder *, tmeter_id node, tmeter_str name);

  /* A fact from the file, metadata.h. A duplicate key in its space is TMETER_BAD_MODEL. */
  tmeter_status(TMETER_ABI *metadata)(tmeter_builder *, const tmeter_metadata *);

  /* A condition on sizes under which the program was recorded: `expr` is not 0 for the recorded sizes. For
   * sizes under which it is 0 or has no value, the model may refuse its inputs or run other operators: the
   * values are then assumed, with a warning that shows `text`, or the expression if `text` is empty. After 1.1. */
  tmeter_status(TMETER_ABI *condition)(tmeter_builder *, tmeter_id expr, tmeter_str text);
} tmeter_builder_api;

#ifdef __cplusplus
}
#endif
#endif
