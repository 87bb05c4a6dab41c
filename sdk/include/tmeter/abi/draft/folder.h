/*
 * DRAFT: may change or be removed, and has an id of its own until it is final (docs/abi.md, rule 5).
 *
 * Host interface "tmeter.host.folder/0.1": a model that is a folder of files.
 *
 * A loader requests a folder by the condition `folder:GLOB` of a match (loader.h): a file in it has such a name
 * ("config.json", "unet/config.json"). It does not read weights: it chooses the files of the model, pushes other
 * facts (metadata, properties), and names the files with `add_part`. When it returns, the host
 * lets the matching loader read each file into the same builder.
 */
#ifndef TMETER_ABI_DRAFT_FOLDER_H
#define TMETER_ABI_DRAFT_FOLDER_H
#include "../builder.h"
#include "../loader.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_FOLDER "tmeter.host.folder/0.1"

/* A file in the folder. */
typedef struct tmeter_folder_file { /* growable; the host fills it */
  uint32_t struct_size;
  int32_t is_link;  /* non-zero: a symbolic link */
  tmeter_str name;  /* relative to the folder: "unet/config.json" */
  uint64_t size;    /* bytes; for a link, of its target; 0 without a target */
} tmeter_folder_file;

/* All [any], also without a call, except functions that take one. */
typedef struct tmeter_folder_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* 0 when the source is a file. */
  int32_t(TMETER_ABI *is_folder)(const tmeter_source *);
  /* Files in the folder and its subfolders, two levels deep, by name; folders are left out if their name
   * begins with a dot. At most 100,000. */
  size_t(TMETER_ABI *file_count)(const tmeter_source *);
  tmeter_status(TMETER_ABI *file_at)(const tmeter_source *, size_t, tmeter_folder_file *out);
  /* A file in the folder, by its name relative to it. TMETER_BAD_MODEL for a name with "..", one that begins
   * with '/', a missing file, and a link that leads out of the folder (to anything but the blobs of a Hugging
   * Face cache). The same name gives the same source again. */
  tmeter_status(TMETER_ABI *open)(tmeter_call *, const tmeter_source *, tmeter_str name,
                                  const tmeter_source **out);
  /* [serial] While a folder is loaded: this file is the model or, with a pushed module, that module of
   * it. The module is then the root for the file's loader, and names of tensors begin with its path. */
  tmeter_status(TMETER_ABI *add_part)(tmeter_call *, const tmeter_request *, const tmeter_source *file,
                                      tmeter_id module, tmeter_str path);
} tmeter_folder_api;

#ifdef __cplusplus
}
#endif
#endif
