/*
 * The model file as a loader sees it: mapped, read-only, with one safe view of its ZIP directory.
 *
 * The host checks the archive once (central against local headers, duplicates, overlaps, sizes
 * beyond the file), so every loader sees the same entries and none needs its own ZIP reader.
 *
 * Host interface "tmeter.host.source/1", [any]. Returned objects live until the load returns.
 */
#ifndef TMETER_ABI_SOURCE_H
#define TMETER_ABI_SOURCE_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_SOURCE "tmeter.host.source/1"

/* A file in a ZIP archive. */
typedef struct tmeter_archive_entry { /* growable; the host fills it */
  uint32_t struct_size;
  int32_t stored;   /* 1: bytes are stored as they are; 0: deflated */
  tmeter_str name;  /* full name in the archive */
  uint64_t size;    /* bytes, uncompressed */
  uint64_t offset;  /* offset of the first (compressed) byte in the file */
} tmeter_archive_entry;

/* The functions of a source. [any]: also without a call, except functions that take one. */
typedef struct tmeter_source_api {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str(TMETER_ABI *path)(const tmeter_source *);    /* the user's path, for messages */
  tmeter_bytes(TMETER_ABI *bytes)(const tmeter_source *); /* the whole file, mapped */

  /* 0 when the file is not a ZIP archive. */
  size_t(TMETER_ABI *entry_count)(const tmeter_source *);
  /* In the order of the directory. TMETER_INVALID_ARGUMENT for an index that is not below the count or a
   * struct smaller than in 1.0. Set `struct_size` before. */
  tmeter_status(TMETER_ABI *entry_at)(const tmeter_source *, size_t, tmeter_archive_entry *out);
  /* The index of an entry by its full name; TMETER_UNSUPPORTED if missing. */
  tmeter_status(TMETER_ABI *find)(const tmeter_source *, tmeter_str name, size_t *out);
  /* The entry's bytes: a view into the mapping when stored, else inflated into memory of the host, once
   * (at most 256 MiB for all entries of an archive; more is TMETER_BAD_MODEL, as is an entry that does not
   * inflate to its size). At least 64 readable bytes follow. TMETER_INVALID_ARGUMENT, without an error
   * text, for an index that is not below the count. */
  tmeter_status(TMETER_ABI *read)(tmeter_call *, const tmeter_source *, size_t, tmeter_bytes *out);

  /* Another file of the same model, in the same folder: a shard named by an index. `name` is a
   * plain file name, without any '/'; every other name is TMETER_BAD_MODEL, as is a file that is
   * missing or cannot be mapped. The same name gives the same source again. The
   * source lives as long as the graph. At most 10,000 files. */
  tmeter_status(TMETER_ABI *companion)(tmeter_call *, const tmeter_source *, tmeter_str name,
                                       const tmeter_source **out);
} tmeter_source_api;

#ifdef __cplusplus
}
#endif
#endif
