/*
 * DRAFT: may change or be removed, and has an id of its own until it is final (docs/abi.md, rule 5).
 *
 * Host interface "tmeter.host.trials/0.1": values of the model under other sizes or
 * other options, for plugins that search for the largest batch or compare settings. A trial is a run of
 * the metrics that the value needs. Its warnings and findings are dropped, and afterwards sizes and options
 * are restored.
 */
#ifndef TMETER_ABI_DRAFT_TRIALS_H
#define TMETER_ABI_DRAFT_TRIALS_H
#include "../graph.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_TRIALS "tmeter.host.trials/0.1"

/* A value for a symbol of the graph. */
typedef struct tmeter_trial_size { /* frozen */
  size_t symbol;                   /* index, as for `symbol_at` */
  int64_t value;
} tmeter_trial_size;

/* A value for an option of a plugin that takes part in the run. */
typedef struct tmeter_trial_option { /* frozen */
  tmeter_str name;                   /* "training.precision" */
  tmeter_str value;                  /* "bf16", as after --set */
} tmeter_trial_option;

/* A trial. */
typedef struct tmeter_trials_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* [serial], in analyses. The model's value of `metric`. Other sizes and options are as in the run.
   * TMETER_UNSUPPORTED: no loaded plugin has the metric, or this run makes no trials, such as a trial itself and
   * the points of a sweep. TMETER_CANNOT_RUN, without an error text: a size is outside the range of its symbol, or makes a
   * dimension or a count invalid. TMETER_BAD_USAGE: there is no such option, or the text is not a value of it. */
  tmeter_status(TMETER_ABI *figure)(tmeter_call *, tmeter_str metric, const tmeter_trial_size *sizes,
                                    size_t size_count, const tmeter_trial_option *options,
                                    size_t option_count, tmeter_number *out);
} tmeter_trials_api;

#ifdef __cplusplus
}
#endif
#endif
