/*
 * The one symbol a plugin exports, and the table through which it reaches the host.
 *
 * The symbol's name carries the ABI's major version. `abi_minor_required` is the lowest minor of
 * the host the plugin can live with; `struct_size` tells, per struct, which members exist.
 *
 * Life, in one process:
 *
 *   tmeter_plugin_v1()     returns an address and does nothing else
 *   init()                 once; when it fails nothing else of the plugin is called
 *   get_capability()       its capabilities, copied by the host before anything is run
 *   configure()            before each run in which it takes part
 *   …                      its handlers, analyses, loaders, writers
 *   deinit()               once, after all else, if `init` succeeded and the process ends in order
 *
 * A process that crashes, is interrupted or killed ends without `deinit`. Libraries are never
 * unloaded, and the process ends by `_exit`: destructors of static objects and functions given to `atexit`
 * do not run. `deinit` is the place for their work. Nothing may run before `init` (no static
 * initialisers with effects): a plugin may be opened only to be listed.
 */
#ifndef TMETER_ABI_ENTRY_H
#define TMETER_ABI_ENTRY_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The name under which the host finds the entry; it changes with the major alone. */
#define TMETER_ENTRY_SYMBOL "tmeter_plugin_v1"

/* A plugin's description of itself, read before `init`. Texts live for ever. */
typedef struct tmeter_plugin_info {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str id;          /* "org.tmeter.flops": letters, digits, '.', '-', '_' */
  tmeter_str name;        /* short, as in --plugins=NAME: "flops" */
  tmeter_str version;     /* "1.0.0" */
  tmeter_str description; /* one line */
  tmeter_str needs;       /* names of plugins it cannot do without, separated by spaces */
  /* What it must be able to do beyond computing and reading the model: words out of "network",
   * "files" (writing), "processes" (starting and signalling), "threads" (a pool, OpenMP's say, that
   * outlives a callback), separated by spaces. Everything else fails with EPERM or EACCES, or is the
   * plugin's error (docs/reliability.md). A word that ends in '?' ("gpu?") is a right that the plugin
   * can do without: one that the host does not know is dropped with a warning. Users see all of it in
   * `tmeter plugin info` and, when they run the plugin, as a note. */
  tmeter_str rights;
} tmeter_plugin_info;

/* The host as a plugin sees it. Lives for ever. */
typedef struct tmeter_host_v1 {
  uint32_t struct_size;
  uint32_t abi_minor; /* the newest this host knows */
  tmeter_str name, version; /* "tmeter"; "1.0.0", for messages; query features by `get_interface` */
  /* [any] A table by id ("tmeter.host.graph/1"), or null when this host has none. The table lives
   * for ever. The first argument is this host itself. */
  const void *(TMETER_ABI *get_interface)(const struct tmeter_host_v1 *, tmeter_str id);
} tmeter_host_v1;

/* What the host finds first. It, and what it points to, lives for ever; of its functions only `configure`
 * may be null. */
typedef struct tmeter_plugin_entry_v1 {
  uint32_t struct_size;
  uint32_t abi_minor_required; /* the lowest minor of a host that this plugin can live with */
  const tmeter_plugin_info *info; /* not null; its id and name are not empty */
  void *user; /* handed back to the functions below */

  /* [main] `library_path` is the plugin's own file. The host lives for ever; the call ends with this
   * function: it takes the reason of a failure (`fail`) and messages (`log`), but options are not
   * known before the plugin has declared them, afterwards. Any status but TMETER_OK means that
   * the plugin cannot be used here; `fail` says why. */
  tmeter_status(TMETER_ABI *init)(tmeter_call *, const tmeter_host_v1 *, tmeter_str library_path,
                                  void *user);
  /* [main] Releases what `init` acquired. No function of the host may be called. */
  void(TMETER_ABI *deinit)(void *user);

  /* [any] The table of a capability ("tmeter.metrics/1"), or null when the plugin does not offer it.
   * Unknown ids are normal: a newer host asks for more. The table and all it gives live until
   * `deinit`, and never change. */
  const void *(TMETER_ABI *get_capability)(tmeter_str id, void *user);

  /* [serial] May be null. Before each run in which the plugin takes part, whether it has metrics or
   * not, when the options are known: the place for `set_convention` and `set_provenance`, and to fail
   * on options that make no sense. A process may make several runs over one graph, under other sizes:
   * forget values computed for nodes of earlier runs here. A plugin of which only a loader, a
   * propagator, a shape rule or a writer is used takes no part in runs: these find the options in
   * their own calls. */
  tmeter_status(TMETER_ABI *configure)(tmeter_call *, void *user);
} tmeter_plugin_entry_v1;

/* [main] What every plugin exports: its entry, the same whenever it is called; never null. */
TMETER_EXPORT const tmeter_plugin_entry_v1 *tmeter_plugin_v1(void);

#ifdef __cplusplus
}
#endif
#endif
