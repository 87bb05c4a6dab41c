/*
 * Capability "tmeter.observer/1", since ABI 1.1: events of real runs of the model by `tmeter --inference`.
 * The host runs the model in rounds; in each round there is one run of every kind that an
 * observer requests:
 *
 *   begin            once: requests kinds of runs (`want` below)
 *   event …          of every run of a requested kind
 *   enough           after each round; the runs end when every observer has enough, or time is up
 *   end              once: values, findings, series, as in an analysis
 *
 * Kinds are separate because observing costs time. WHOLE runs have two events only, so their time is
 * that of the model; the additional time of OPERATORS runs is the cost of observing. Rounds spread machine noise
 * evenly over all kinds. Before the first round the model is run (WARM_UP, without events) until its
 * time is stable.
 *
 * Events of one run come in order, on one thread; a GPU's events come after the run, because only then
 * their times are known. The host has checked them (executor.h): operators begin and end in pairs, one at a
 * time. During a run, time spent in `event` is time of the model: keep the
 * event's data and evaluate it in `end`.
 */
#ifndef TMETER_ABI_OBSERVER_H
#define TMETER_ABI_OBSERVER_H
#include "graph.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_OBSERVER "tmeter.observer/1"
#define TMETER_HOST_RUNS "tmeter.host.runs/1"

/* The events of a run. An unknown kind: a run this observer did not request. */
enum {
  TMETER_RUN_WARM_UP = 0,
  TMETER_RUN_WHOLE = 1,     /* only RUN_BEGIN and RUN_END */
  TMETER_RUN_OPERATORS = 2, /* also OP_BEGIN, OP_END of every operator */
  TMETER_RUN_MEMORY = 3     /* also ALLOCATE, FREE */
};

/* The kind of an event. Ignore unknown kinds. */
enum {
  TMETER_EVENT_RUN_BEGIN = 0,
  TMETER_EVENT_RUN_END = 1, /* missing if the run failed */
  TMETER_EVENT_OP_BEGIN = 2,
  TMETER_EVENT_OP_END = 3,
  TMETER_EVENT_ALLOCATE = 4, /* `bytes` of the device's memory, by the running operator */
  TMETER_EVENT_FREE = 5      /* `bytes` freed; between operators without `node`: a result after its last use */
};

/* One event. Lives until `event` returns. */
typedef struct tmeter_event { /* growable; the host fills it */
  uint32_t struct_size;
  int32_t kind;            /* TMETER_EVENT_… */
  uint64_t nanoseconds;    /* CLOCK_MONOTONIC; for work on a GPU: its own clock, set to CLOCK_MONOTONIC at RUN_BEGIN */
  const tmeter_node *node; /* for OP_…; for ALLOCATE and FREE, or null */
  int64_t bytes;           /* for ALLOCATE and FREE, above 0; else 0 */
  /* For OP_END and RUN_END: its beginning, after the delivery of the begin event: the interval from `since` to
   * `nanoseconds` is time of the model, without observers. Otherwise 0. */
  uint64_t since;
  int32_t run;             /* TMETER_RUN_… */
  int32_t threads;         /* of the run */
} tmeter_event;

/* An observer. `begin`, `event` and `end` are mandatory. */
typedef struct tmeter_observer { /* growable */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name;     /* for messages; one line */
  tmeter_str produced; /* ids of emitted metrics, separated by spaces, all of this plugin's own */
  /* [serial] Before the first run; requests kinds of runs by `want`. */
  tmeter_status(TMETER_ABI *begin)(tmeter_call *, const tmeter_graph *, void *user);
  /* [serial] An event. A failure ends the runs. */
  tmeter_status(TMETER_ABI *event)(tmeter_call *, const tmeter_event *, void *user);
  /* [serial] May be null: one round is enough. Non-zero: it needs no more rounds. Failures as
   * in `event`. */
  int32_t(TMETER_ABI *enough)(tmeter_call *, void *user);
  /* [serial] After the last round, also when a run has failed (`stopped` below). Emits values by
   * `emit_at`, on the axes of the metric, and findings, distributions and series. Produced metrics without
   * a value are UNAVAILABLE. */
  tmeter_status(TMETER_ABI *end)(tmeter_call *, const tmeter_graph *, void *user);
  /* [serial] May be null. Called every `interval` nanoseconds during runs, on a thread of the
   * host for this purpose, never at the same time as the other functions of this observer. Keep it short. */
  tmeter_status(TMETER_ABI *sample)(tmeter_call *, uint64_t nanoseconds, void *user);
  void *user;
} tmeter_observer;

/* The table of "tmeter.observer/1". */
typedef struct tmeter_observers { /* growable */
  uint32_t struct_size;
  uint32_t count;
  const tmeter_observer *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_observers;

/* The host's half, for observers' functions. */
typedef struct tmeter_runs_api { /* growable; all [serial] */
  uint32_t struct_size;
  uint32_t reserved;
  /* In `begin`: one run of this kind in every round, or, with `rounds` above 0, in that number of rounds; on `threads`
   * threads, 0 meaning the user's number. TMETER_INVALID_ARGUMENT for an unknown kind,
   * WARM_UP, or more than 1024 threads. */
  tmeter_status(TMETER_ABI *want)(tmeter_call *, int32_t run, int32_t threads, int32_t rounds);
  /* In `begin`: request `sample` every `interval` nanoseconds, at least 1 ms. */
  tmeter_status(TMETER_ABI *want_samples)(tmeter_call *, uint64_t interval);
  /* Facts of the runs, by key: "device" ("cpu", "cuda:0"), "engine" ("LibTorch 2.15.0"),
   * "weights" ("of the file", "random"), "inputs", "threads" (the user's number), "seconds" (limit
   * of all rounds), "device.name". Empty: unknown. Lives as long as the run. */
  tmeter_str(TMETER_ABI *fact)(tmeter_call *, tmeter_str key);
  /* In `end`: the reason for an early stop ("aten::conv2d of layer1: …"); empty without one. */
  tmeter_str(TMETER_ABI *stopped)(tmeter_call *);
} tmeter_runs_api;

#ifdef __cplusplus
}
#endif
#endif
