/*
 * Encoded tensors: the storage of their elements, and the other stored tensors that belong to them.
 *
 * The elements of most tensors are stored one by one. An encoded tensor has them packed or scaled: eight
 * int4 in an int32 with scales in another tensor (GPTQ), blocks of 256 with their scales inside (GGUF). Its
 * dims are those of the weight that the model uses, its dtype is float32. A decoder gives its elements
 * (draft/decoder.h).
 */
#ifndef TMETER_ABI_STORAGE_H
#define TMETER_ABI_STORAGE_H
#include "base.h"
#include "dtype.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Another stored tensor that belongs to an encoded one: its scales, zero points, order. The builder copies
 * it; the graph fills one for `tensor_part_at`. */
typedef struct tmeter_stored_part { /* growable */
  uint32_t struct_size;
  int32_t dtype;       /* TMETER_DTYPE_… */
  /* Its purpose, a word of the encoding: "scales", "zeros", "order", "biases", "codes", "shape", … A
   * decoder finds it by that; unique in the tensor. */
  tmeter_str role;
  tmeter_str name;     /* in the file: "model.layers.0.mlp.up_proj.scales" */
  const int64_t *dims; /* `rank` items, each at least 0; contiguous */
  size_t rank;         /* at most 64; 0: a scalar */
  int64_t file_offset; /* offset in bytes; -1: not in the file */
  int64_t bytes;       /* size in the file; 0 for weightless files */
  const tmeter_source *source; /* the file of `file_offset`; null: the model file. Null in `tensor_part_at` */
} tmeter_stored_part;

/* The storage of a tensor's elements. */
typedef struct tmeter_tensor_storage { /* growable; the host fills it */
  uint32_t struct_size;
  uint32_t part_count;   /* number of other stored tensors that belong to it: `tensor_part_at` */
  tmeter_str encoding;   /* "ggml.q4_k" (builder.h); empty: one by one */
  tmeter_str parameters; /* "bits=4 group=128"; may be empty */
  int64_t block_elements, block_bytes; /* elements and bytes of a block; 0: unknown, or not encoded */
  int64_t stored_bytes;  /* like `tensor_stored_bytes` */
  int64_t own_bytes;     /* the same without the parts */
  int32_t stored_dtype;  /* TMETER_DTYPE_… of the stored elements */
  uint32_t reserved;
} tmeter_tensor_storage;

#ifdef __cplusplus
}
#endif
#endif
