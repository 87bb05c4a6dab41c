/*
 * The one symbol a plugin exports, and the table through which it reaches the host.
 *
 * The symbol's name carries the ABI's major version. `abi_minor_required` is the lowest minor of
 * the host the plugin can live with; `struct_size` tells, per struct, which members exist.
 *
 * Life: tmeter_plugin_v1() → checks → init() [main] → get_capability() [any] … → deinit() [main].
 * `init` may be called again after `deinit`. Libraries are never unloaded. Nothing may run before
 * `init` (no static initialisers with effects), and `tmeter_plugin_v1` only returns an address.
 */
#ifndef TMETER_ABI_ENTRY_H
#define TMETER_ABI_ENTRY_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_ENTRY_SYMBOL "tmeter_plugin_v1"

typedef struct tmeter_plugin_info {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str id;          /* "org.tmeter.flops": letters, digits, '.', '-', '_' */
  tmeter_str name;        /* short, as in --plugins=NAME: "flops" */
  tmeter_str version;     /* "1.0.0" */
  tmeter_str description; /* one line */
  tmeter_str requires_;   /* names of plugins this one needs, separated by spaces */
  /* What it must be able to do beyond computing and reading the model: words out of "network",
   * "files" (writing), "processes" (starting and signalling), separated by spaces. Everything else
   * fails with EPERM or EACCES (docs/reliability.md). Users see it in `tmeter plugin info` and, when
   * they run the plugin, as a note. */
  tmeter_str rights;
} tmeter_plugin_info;

typedef struct tmeter_host_v1 {
  uint32_t struct_size;
  uint32_t abi_minor;
  tmeter_str name, version;
  /* A table by id ("tmeter.host.graph/1"), or null when this host has none. Lives for ever. [any] */
  const void *(TMETER_ABI *get_interface)(tmeter_str id);
} tmeter_host_v1;

typedef struct tmeter_plugin_entry_v1 {
  uint32_t struct_size;
  uint32_t abi_minor_required;
  const tmeter_plugin_info *info;
  tmeter_status(TMETER_ABI *init)(const tmeter_host_v1 *host, tmeter_str library_path); /* [main] */
  void(TMETER_ABI *deinit)(void);                                                       /* [main] */
  const void *(TMETER_ABI *get_capability)(tmeter_str id);                              /* [any]  */
} tmeter_plugin_entry_v1;

TMETER_EXPORT const tmeter_plugin_entry_v1 *tmeter_plugin_v1(void);

#ifdef __cplusplus
}
#endif
#endif
