/*
 * Capability "tmeter.observer/1", since ABI 1.1: events of real runs of the model, as `tmeter --inference` makes
 * them. The host runs the model in rounds; in each round there is one run of every kind that an
 * observer wants:
 *
 *   begin            once: requests kinds of runs (`want` below)
 *   event …          of every run of a kind that it wants
 *   enough           after each round; when every observer has enough, or time is up, it ends
 *   end              once: values, findings, series, as in an analysis
 *
 * Kinds are separate because observing costs time. WHOLE runs have two events only, so their time is
 * that of the model; the additional time of OPERATORS runs is the cost of observing. Rounds spread machine noise
 * evenly over all kinds. Before the first round the model is run (WARM_UP, without events) until its
 * time is stable.
 *
 * Events of one run come in order, on one thread; a GPU's after the run has ended, as only then
 * their times are known. The host has checked them (executor.h): operators begin and end in pairs, one at a
 * time. While a run goes on, time spent in `event` is time of the model: keep what it
 * tells and work it out in `end`.
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
  TMETER_RUN_WHOLE = 1,     /* RUN_BEGIN and RUN_END alone */
  TMETER_RUN_OPERATORS = 2, /* and OP_BEGIN, OP_END of every operator */
  TMETER_RUN_MEMORY = 3     /* and ALLOCATE, FREE */
};

/* What happened. Events that are not known are to be passed over. */
enum {
  TMETER_EVENT_RUN_BEGIN = 0,
  TMETER_EVENT_RUN_END = 1, /* not there when the run failed */
  TMETER_EVENT_OP_BEGIN = 2,
  TMETER_EVENT_OP_END = 3,
  TMETER_EVENT_ALLOCATE = 4, /* `bytes` of the device's memory, by the operator that is at work */
  TMETER_EVENT_FREE = 5      /* `bytes` given back; without `node` between operators: a result after its last use */
};

/* One event. Lives until `event` returns. */
typedef struct tmeter_event { /* growable; the host fills it */
  uint32_t struct_size;
  int32_t kind;            /* TMETER_EVENT_… */
  uint64_t nanoseconds;    /* CLOCK_MONOTONIC; of work on a GPU: its own clock, set to that one at RUN_BEGIN */
  const tmeter_node *node; /* of OP_…; of ALLOCATE and FREE, or null */
  int64_t bytes;           /* of ALLOCATE and FREE, above 0; else 0 */
  /* Of OP_END and RUN_END: when it began, after the begin event was delivered: the interval from `since` to
   * `nanoseconds` is time of the model alone. Else 0. */
  uint64_t since;
  int32_t run;             /* TMETER_RUN_… */
  int32_t threads;         /* of the run */
} tmeter_event;

/* An observer. `begin`, `event` and `end` must be there. */
typedef struct tmeter_observer { /* growable */
  uint32_t struct_size;
  uint32_t reserved;
  tmeter_str name;     /* for messages; one line */
  tmeter_str produced; /* metric ids it emits, separated by spaces, all of this plugin's own */
  /* [serial] Before the first run; `want` says which kinds of runs there are to be. */
  tmeter_status(TMETER_ABI *begin)(tmeter_call *, const tmeter_graph *, void *user);
  /* [serial] An event. A failure ends the runs. */
  tmeter_status(TMETER_ABI *event)(tmeter_call *, const tmeter_event *, void *user);
  /* [serial] May be null: one round is enough. Non-zero: no more rounds are needed for it. Failures as
   * in `event`. */
  int32_t(TMETER_ABI *enough)(tmeter_call *, void *user);
  /* [serial] After the last round, also when a run has failed (`stopped` below): values go out by
   * `emit_at`, on the axes of the metric, beside findings, distributions and series. Produced metrics without
   * a value are UNAVAILABLE. */
  tmeter_status(TMETER_ABI *end)(tmeter_call *, const tmeter_graph *, void *user);
  /* [serial] May be null. Called every `interval` nanoseconds while runs go on, on a thread of the
   * host's that does nothing else; never at once with the others of this observer, so short.  */
  tmeter_status(TMETER_ABI *sample)(tmeter_call *, uint64_t nanoseconds, void *user);
  void *user;
} tmeter_observer;

/* What "tmeter.observer/1" gives. */
typedef struct tmeter_observers { /* growable */
  uint32_t struct_size;
  uint32_t count;
  const tmeter_observer *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_observers;

/* The host's half, in observers' functions. */
typedef struct tmeter_runs_api { /* growable; all [serial] */
  uint32_t struct_size;
  uint32_t reserved;
  /* In `begin`: one run of this kind in every round, or, with `rounds` above 0, in that number of rounds; on `threads`
   * threads, 0 meaning the user's number. TMETER_INVALID_ARGUMENT for a kind that is not
   * known, WARM_UP, or more threads than 1024. */
  tmeter_status(TMETER_ABI *want)(tmeter_call *, int32_t run, int32_t threads, int32_t rounds);
  /* In `begin`: request `sample` every `interval` nanoseconds, at least 1 ms. */
  tmeter_status(TMETER_ABI *want_samples)(tmeter_call *, uint64_t interval);
  /* Facts of the runs, by key: "device" ("cpu", "cuda:0"), "engine" ("LibTorch 2.15.0"),
   * "weights" ("of the file", "random"), "inputs", "threads" (those the user wants), "seconds" (that
   * all rounds may take), "device.name". Empty when unknown. Lives as long as the run. */
  tmeter_str(TMETER_ABI *fact)(tmeter_call *, tmeter_str key);
  /* In `end`: why runs stopped early ("aten::conv2d of layer1: …"); empty when they did not. */
  tmeter_str(TMETER_ABI *stopped)(tmeter_call *);
} tmeter_runs_api;

#ifdef __cplusplus
}
#endif
#endif
