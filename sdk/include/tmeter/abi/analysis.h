/*
 * Capability "tmeter.analysis/1": a pass over the whole graph that reads some metrics and produces
 * others. The host orders passes by their requirements; a cycle is an error naming the passes.
 * Host interface "tmeter.host.hardware/1": the hardware profile chosen with --hardware.
 */
#ifndef TMETER_ABI_ANALYSIS_H
#define TMETER_ABI_ANALYSIS_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_ANALYSIS "tmeter.analysis/1"
#define TMETER_HOST_HARDWARE "tmeter.host.hardware/1"

/* One pass. Texts and function live until `deinit`. */
typedef struct tmeter_analysis {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name;     /* for messages; one line */
  tmeter_str required; /* metric ids separated by spaces; a metric that no loaded plugin has is an error */
  tmeter_str produced; /* metric ids separated by spaces, all of this plugin's own; may be empty */
  /* [serial] Once per run, after the required metrics. Emits values by `emit_at` (metric.h),
   * and adds findings, distributions and series. Cells that are not emitted stay NONE.
   * Returns TMETER_OK or a failure. UNSUPPORTED: there are no results. */
  tmeter_status(TMETER_ABI *run)(tmeter_call *, const tmeter_graph *, void *user);
  void *user;
} tmeter_analysis;

/* The table of "tmeter.analysis/1". */
typedef struct tmeter_analyses {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_analysis *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_analyses;

/* Numbers of the profile by dotted key, "energy.mac.float32"; units are part of the profile's
 * schema (docs/hardware-profiles.md). [serial], in `configure`, handlers and analyses. Texts live as long as
 * the run. */
typedef struct tmeter_hardware_api {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str(TMETER_ABI *name)(tmeter_call *);  /* "horowitz-45nm"; empty without a profile */
  tmeter_str(TMETER_ABI *title)(tmeter_call *); /* one line for reports; empty without one */
  /* The number, and its origin in `source`. TMETER_UNAVAILABLE, without an error text and with
   * nothing stored, if the profile lacks the key or none is used; TMETER_BAD_USAGE if the user's
   * profile cannot be read; return this status. */
  tmeter_status(TMETER_ABI *number)(tmeter_call *, tmeter_str key, double *out, tmeter_str *source);
} tmeter_hardware_api;

#ifdef __cplusplus
}
#endif
#endif
