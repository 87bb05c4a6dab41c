/*
 * Capability "tmeter.analysis/1": a pass over the whole graph that reads some metrics and produces
 * others. The host orders passes by what they require; a cycle is an error naming the passes.
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

typedef struct tmeter_analysis {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name;
  tmeter_str required; /* metric ids separated by spaces */
  tmeter_str produced; /* metric ids separated by spaces */
  tmeter_status(TMETER_ABI *run)(tmeter_call *, const tmeter_graph *, void *user); /* [serial] */
  void *user;
} tmeter_analysis;

typedef struct tmeter_analyses {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_analysis *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_analyses;

/* Numbers of the profile by dotted key, "energy.mac.float32"; units are part of the profile's
 * schema (docs/hardware-profiles.md). `source` says where the number is from. */
typedef struct tmeter_hardware_api {
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str(TMETER_ABI *name)(tmeter_call *);  /* "horowitz-45nm" */
  tmeter_str(TMETER_ABI *title)(tmeter_call *);
  /* TMETER_UNAVAILABLE (no error text) when the profile lacks the key. */
  tmeter_status(TMETER_ABI *number)(tmeter_call *, tmeter_str key, double *out, tmeter_str *source);
} tmeter_hardware_api;

#ifdef __cplusplus
}
#endif
#endif
