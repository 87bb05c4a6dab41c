/*
 * The call: a plugin's handle while the host is inside one of its functions. It carries the error
 * slot, the log, the cancel flag, scratch memory and the plugin's resolved options.
 *
 * Host interface "tmeter.host.call/1". A call belongs to the thread that received it, and ends when the
 * function returns. A plugin's own threads work without it (the graph and the source need none). Used on
 * another thread or afterwards, it does nothing.
 * Every function is [any] for different calls.
 *
 * Advice for plugins: never print, never exit. Report the defect, its place and the remedy with
 * `fail`, then return a status other than TMETER_OK.
 */
#ifndef TMETER_ABI_CALL_H
#define TMETER_ABI_CALL_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_CALL "tmeter.host.call/1"

/* How much a message matters. */
enum {
  TMETER_LOG_DEBUG = 0,  /* details for the plugin's author, not shown by -v */
  TMETER_LOG_INFO = 1,   /* shown with -v */
  TMETER_LOG_WARNING = 2 /* part of every report; equal messages once; a limited number */
};

/* The functions of a call. */
typedef struct tmeter_call_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* Sets the error text of this call (copied; the last one counts). It is reported when the function
   * returns a status that needs one, and forgotten when it returns TMETER_OK or TMETER_UNSUPPORTED. */
  void(TMETER_ABI *fail)(tmeter_call *, tmeter_str message);

  /* A message at a level, TMETER_LOG_…: one line. On stderr it follows the plugin's id; in reports it
   * has no prefix. Copied. */
  void(TMETER_ABI *log)(tmeter_call *, int32_t level, tmeter_str message);

  /* Non-zero once the user has asked to stop: return TMETER_CANCELLED soon. Cheap; call it about every
   * millisecond of work. A plugin that does not is ended from outside. */
  int32_t(TMETER_ABI *cancelled)(tmeter_call *);

  /* Memory that lives until this call returns, zeroed and aligned for every type; null when `bytes` is
   * above 1 GiB or memory is exhausted. */
  void *(TMETER_ABI *scratch)(tmeter_call *, size_t bytes);

  /* Progress of long work: `done` of `total` (0 = unknown) in `unit` ("B", "nodes"). A host may show it
   * or not. tmeter shows it on a terminal, together with its own progress of reading weights. Cheap:
   * may be called every millisecond. */
  void(TMETER_ABI *progress)(tmeter_call *, uint64_t done, uint64_t total, tmeter_str unit);

  /* The plugin's options, and "p.key" of a plugin p that it needs, validated (options.h). The key must
   * be declared: otherwise TMETER_INVALID_ARGUMENT with an error text, and nothing is stored. An option
   * of any type is available as the user's text. Text lives until `deinit`. */
  tmeter_status(TMETER_ABI *option_text)(tmeter_call *, tmeter_str key, tmeter_str *out);
  /* INT; else 0 */
  tmeter_status(TMETER_ABI *option_int)(tmeter_call *, tmeter_str key, int64_t *out);
  /* FLOAT, INT; else 0 */
  tmeter_status(TMETER_ABI *option_float)(tmeter_call *, tmeter_str key, double *out);
  /* BOOL: 1 or 0; else 0 */
  tmeter_status(TMETER_ABI *option_bool)(tmeter_call *, tmeter_str key, int32_t *out);

  /* The current work of this call in a few words: "aten::conv2d of layer1". The message about a crash
   * or a time-out contains it. The first 200 bytes are copied, without a system call: cheap
   * enough for each operator. The host adds the callback, node or tensor itself. */
  void(TMETER_ABI *at)(tmeter_call *, tmeter_str what);

  /* The graph of this run, in handlers, analyses and `configure`; null before it exists
   * (loaders, shape rules, `init`) and in writers, whose report has it. */
  const tmeter_graph *(TMETER_ABI *graph)(tmeter_call *);
} tmeter_call_api;

#ifdef __cplusplus
}
#endif
#endif
