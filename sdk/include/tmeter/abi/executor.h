/*
 * Capability "tmeter.executor/1", since ABI 1.1: runs a model's graph on real weights and inputs, and reports
 * events. The host decides the number of runs and their observers (observer.h):
 *
 *   prepare → state    weights (the mapped file, not copies), inputs, device, libraries
 *   run(state, …) …    the whole graph once, operator by operator; results freed at their last use
 *   release(state)     for every state, also after errors
 *
 * All functions are [serial], on one thread.
 *
 * Errors: TMETER_BAD_USAGE for an unsuitable device, input or library of the user
 * (name it); TMETER_CANNOT_RUN when the model cannot be run here, with operator and module;
 * TMETER_UNSUPPORTED passes to the next executor.
 */
#ifndef TMETER_ABI_EXECUTOR_H
#define TMETER_ABI_EXECUTOR_H
#include "observer.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_EXECUTOR "tmeter.executor/1"
#define TMETER_HOST_EVENTS "tmeter.host.events/1"

/* A file with the values of an input: .pt, .npy or .safetensors. */
typedef struct tmeter_input_file { /* frozen */
  tmeter_str name; /* name of the input; empty: the only input, or the names in the file */
  tmeter_str path; /* the user's path */
} tmeter_input_file;

/* The user's options for runs. Lives until `release`. */
typedef struct tmeter_run_request { /* growable; the host fills it */
  uint32_t struct_size;
  int32_t threads;         /* at least 1 */
  tmeter_str device;       /* "cpu", "cuda", "cuda:1" */
  uint64_t seed;           /* of generated inputs and weights */
  uint64_t memory_limit;   /* bytes of the device's memory that runs may take; 0: no limit */
  const tmeter_input_file *inputs; /* the user's files; inputs without one are generated */
  size_t input_count;              /* number of files */
  const tmeter_str *libraries;     /* paths of libraries with operators that the engine lacks */
  size_t library_count;            /* number of libraries */
} tmeter_run_request;

/* An executor. Every function is mandatory. */
typedef struct tmeter_executor { /* growable */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name; /* name of the engine for messages: "LibTorch" */
  /* Prepares the model. `*state` is passed to the other functions, and to `release` if this returns TMETER_OK. */
  tmeter_status(TMETER_ABI *prepare)(tmeter_call *, const tmeter_graph *,
                                     const tmeter_run_request *, void **state, void *user);
  /* One run: `run` is TMETER_RUN_…, on `threads` threads; an unknown kind emits the events of WHOLE. Events go
   * to `tmeter.host.events/1`. Call `cancelled` before each operator. */
  tmeter_status(TMETER_ABI *run)(tmeter_call *, void *state, int32_t run, int32_t threads,
                                 void *user);
  /* Once, after the last run. */
  void(TMETER_ABI *release)(void *state, void *user);
  void *user;
} tmeter_executor;

/* The table of "tmeter.executor/1". */
typedef struct tmeter_executors { /* growable */
  uint32_t struct_size;
  uint32_t count;
  const tmeter_executor *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_executors;

/* Receives the events of an executor. */
typedef struct tmeter_events_api { /* growable; all [serial], in calls of executors */
  uint32_t struct_size;
  uint32_t reserved;
  /* In `run`. Every run has RUN_BEGIN and RUN_END; its kind decides the other events. Cheap. Checked before
   * observers see it; a violation is the executor's failure. RUN_BEGIN comes first and RUN_END last, once each;
   * OP_END follows the OP_BEGIN of the same node, and operators do not overlap; nodes are of the graph; no
   * time is before that of the previous event (memory events and others separately: a GPU has a clock of its
   * own), and `since` is between its begin and end; `bytes` are above 0 and below 2^63 in all. An event of an
   * unknown kind is ignored. Any status except TMETER_OK: an observer has failed; return this status. */
  tmeter_status(TMETER_ABI *event)(tmeter_call *, const tmeter_event *);
  /* In `prepare`: a fact for observers and reports (observer.h, `fact`; report property "run.KEY"). The key
   * is of [a-z0-9._-]. Copied; one line. */
  tmeter_status(TMETER_ABI *fact)(tmeter_call *, tmeter_str key, tmeter_str text);
  /* In `prepare`: the memory of a tensor's elements, from its first element to the last that its
   * strides reach: the file, mapped read-only. Copy tensors the model changes. It may not be
   * aligned to the size of an element, and lives until `release` returns. TMETER_UNAVAILABLE, without an error text,
   * when the elements are not in a file (tensor_data.h's `unavailable` has the reason). */
  tmeter_status(TMETER_ABI *weights)(tmeter_call *, const tmeter_tensor *, tmeter_bytes *out);
} tmeter_events_api;

#ifdef __cplusplus
}
#endif
#endif
