/*
 * The call: what a plugin holds while the host is inside one of its functions. It carries the error
 * slot, the log, the cancel flag, scratch memory and the plugin's resolved options.
 *
 * Host interface "tmeter.host.call/1". A call belongs to the thread it was given to, and ends when the
 * function returns: a plugin's own threads work without it (the graph and the source need none).
 * Every function is [any] for different calls.
 *
 * Advice for plugins: never print, never exit; say what was wrong, where, and what to do, with
 * `fail`, then return a status other than TMETER_OK.
 */
#ifndef TMETER_ABI_CALL_H
#define TMETER_ABI_CALL_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_CALL "tmeter.host.call/1"

enum { TMETER_LOG_DEBUG = 0, TMETER_LOG_INFO = 1, TMETER_LOG_WARNING = 2 };

typedef struct tmeter_call_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* Sets the error text of this call (copied; the last one counts). */
  void(TMETER_ABI *fail)(tmeter_call *, tmeter_str message);

  /* DEBUG and INFO go to stderr with -v; a WARNING becomes part of every report. Copied. */
  void(TMETER_ABI *log)(tmeter_call *, int32_t level, tmeter_str message);

  /* Non-zero once the user has asked to stop: return TMETER_CANCELLED soon. Cheap; asked for every
   * millisecond or so of work. Who does not ask is ended from outside. */
  int32_t(TMETER_ABI *cancelled)(tmeter_call *);

  /* Memory that lives until this call returns; null when `bytes` is absurd (> 1 GiB). */
  void *(TMETER_ABI *scratch)(tmeter_call *, size_t bytes);

  /* Progress of long work: `done` of `total` (0 = unknown) in `unit` ("B", "nodes"). */
  void(TMETER_ABI *progress)(tmeter_call *, uint64_t done, uint64_t total, tmeter_str unit);

  /* The plugin's own options, resolved and validated (options.h). The key must be declared:
   * otherwise the call fails with TMETER_INVALID_ARGUMENT. Text lives until `deinit`. */
  tmeter_status(TMETER_ABI *option_text)(tmeter_call *, tmeter_str key, tmeter_str *out);
  tmeter_status(TMETER_ABI *option_int)(tmeter_call *, tmeter_str key, int64_t *out);
  tmeter_status(TMETER_ABI *option_float)(tmeter_call *, tmeter_str key, double *out);
  tmeter_status(TMETER_ABI *option_bool)(tmeter_call *, tmeter_str key, int32_t *out);

  /* What this call is working on just now, in a few words: "aten::conv2d of layer1". Should it crash
   * or take too long, the user is told. The first 200 bytes are copied, without a system call: cheap
   * enough to be said for each operator. The host says itself which callback, node or tensor it is. */
  void(TMETER_ABI *at)(tmeter_call *, tmeter_str what);
} tmeter_call_api;

#ifdef __cplusplus
}
#endif
#endif
