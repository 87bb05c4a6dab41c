/*
 * The only symbol that a plugin exports, and the table through which it reaches the host.
 *
 * The symbol's name carries the ABI's major version. `abi_minor_required` is the lowest minor of
 * the host that the plugin supports; `struct_size` determines which members of a struct exist.
 *
 * Life, in one process:
 *
 *   tmeter_plugin_v1()     returns an address and does nothing else
 *   init()                 once; when it fails nothing else of the plugin is called
 *   get_capability()       its capabilities, copied by the host before any run
 *   configure()            before each run in which it takes part
 *   …                      its handlers, analyses, loaders, writers
 *   deinit()               once, last, if `init` succeeded and the process ends normally
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

/* The name under which the host finds the entry; it changes only with the major version. */
#define TMETER_ENTRY_SYMBOL "tmeter_plugin_v1"

/* A plugin's description of itself, read before `init`. Texts live for ever. */
typedef struct tmeter_plugin_info {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str id;          /* "org.tmeter.flops": letters, digits, '.', '-', '_' */
  tmeter_str name;        /* short, as in --plugins=NAME: "flops" */
  tmeter_str version;     /* "1.0.0" */
  tmeter_str description; /* one line */
  tmeter_str needs;       /* names of required plugins, separated by spaces */
  /* Its rights beyond computing and reading the model: words of "network",
   * "files" (writing), "processes" (starting and signalling), "threads" (such as OpenMP's pool, that
   * outlives a callback), separated by spaces. Every other action fails with EPERM or EACCES, or is the
   * plugin's error (docs/reliability.md). A word that ends in '?' ("gpu?") is an optional
   * right: one that is unknown to the host is dropped with a warning. Users see all rights in
   * `tmeter plugin info` and, when they run the plugin, as a note. */
  tmeter_str rights;
} tmeter_plugin_info;

/* The host's table for plugins. Lives for ever. */
typedef struct tmeter_host_v1 {
  uint32_t struct_size;
  uint32_t abi_minor; /* the newest that this host supports */
  tmeter_str name, version; /* "tmeter"; "1.0.0", for messages; query features by `get_interface` */
  /* [any] A table by id ("tmeter.host.graph/1"), or null when this host has none. The table lives
   * for ever. The first argument is this host itself. */
  const void *(TMETER_ABI *get_interface)(const struct tmeter_host_v1 *, tmeter_str id);
} tmeter_host_v1;

/* The plugin's entry. It and all it points to live for ever; of its functions only `configure`
 * may be null. */
typedef struct tmeter_plugin_entry_v1 {
  uint32_t struct_size;
  uint32_t abi_minor_required; /* the lowest minor of a host that this plugin supports */
  const tmeter_plugin_info *info; /* not null; its id and name are not empty */
  void *user; /* passed to the functions below */

  /* [main] `library_path` is the plugin's own file. The host lives for ever; the call ends with this
   * function. The call accepts the reason of a failure (`fail`) and messages (`log`), but options are not
   * known yet, because the plugin declares them later. Any status except TMETER_OK means that
   * the plugin cannot be used here, for the reason given to `fail`. */
  tmeter_status(TMETER_ABI *init)(tmeter_call *, const tmeter_host_v1 *, tmeter_str library_path,
                                  void *user);
  /* [main] Releases what `init` acquired. No function of the host may be called. */
  void(TMETER_ABI *deinit)(void *user);

  /* [any] The table of a capability ("tmeter.metrics/1"), or null when the plugin does not offer it.
   * Unknown ids are normal, because a newer host requests more. The table and all its items live until
   * `deinit`, and never change. */
  const void *(TMETER_ABI *get_capability)(tmeter_str id, void *user);

  /* [serial] May be null. Called before each run in which the plugin takes part, with or without
   * metrics, when the options are known: the place for `set_convention` and `set_provenance`, and to fail
   * on invalid options. A process may make several runs over one graph, under other sizes:
   * drop values of earlier runs here. A plugin of which only a loader, a
   * propagator, a shape rule or a writer is used takes no part in runs: these read the options from
   * their own calls. */
  tmeter_status(TMETER_ABI *configure)(tmeter_call *, void *user);
} tmeter_plugin_entry_v1;

/* [main] Exported by every plugin: returns its entry, always the same; never null. */
TMETER_EXPORT const tmeter_plugin_entry_v1 *tmeter_plugin_v1(void);

#ifdef __cplusplus
}
#endif
#endif
