/*
 * Metadata: typed facts in a file about its model, in addition to the common properties of all formats
 * (graph.h). A loader pushes them with the builder's `metadata`; plugins enumerate them with the graph's
 * `metadata_count` and `metadata_at`, or look one up with `metadata_find`; reports list them.
 *
 *   space "gguf"         key "llama.attention.head_count_kv"     INT, an array
 *   space "config.json"  key "text_config.rope_theta"            FLOAT
 *
 * The key of a value inside other objects is its path, with names joined by '.'.
 */
#ifndef TMETER_ABI_METADATA_H
#define TMETER_ABI_METADATA_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The type of a value. Leave out values of unknown type. */
enum {
  TMETER_METADATA_TEXT = 0,  /* `texts` */
  TMETER_METADATA_INT = 1,   /* `ints`; one beyond 63 bits is a FLOAT */
  TMETER_METADATA_FLOAT = 2, /* `floats`; may be NaN or infinite */
  TMETER_METADATA_BOOL = 3   /* `ints`, 0 or 1 */
};

/* One fact: a value, or an array of values of one type. An array of mixed types, or of objects, is a
 * TEXT: its JSON. */
typedef struct tmeter_metadata { /* growable; filled by the plugin for the builder, by the host for the graph */
  uint32_t struct_size;
  int32_t type;        /* TMETER_METADATA_…; for an array: of each item */
  tmeter_str space;    /* its origin: "gguf", "config.json"; not empty */
  tmeter_str key;      /* unique in its space; not empty */
  int32_t is_array;    /* non-zero: an array, also with one item or none */
  uint32_t count;      /* values below; 1 unless it is an array */
  int64_t length;      /* for an array: items in the file. More than `count` if a loader leaves out the
                          rest of a long one (a vocabulary). Else 1 */
  const tmeter_str *texts; /* `count` items for a TEXT, else null */
  const int64_t *ints;     /* for INT and BOOL */
  const double *floats;    /* for FLOAT */
} tmeter_metadata;

#ifdef __cplusplus
}
#endif
#endif
