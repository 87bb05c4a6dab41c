/*
 * Capability "tmeter.options/1": the options a plugin understands. The host merges defaults <
 * configuration file < --set NAME.KEY=VALUE, checks type, range and choices, and hands the result
 * out through the call (call.h). Unknown keys are errors that name the nearest known one.
 */
#ifndef TMETER_ABI_OPTIONS_H
#define TMETER_ABI_OPTIONS_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_OPTIONS "tmeter.options/1"

/* A type that the host does not know is handed out as TEXT. */
enum {
  TMETER_OPTION_TEXT = 0,
  TMETER_OPTION_INT = 1,
  TMETER_OPTION_FLOAT = 2,
  TMETER_OPTION_BOOL = 3,
  TMETER_OPTION_CHOICE = 4
};

typedef struct tmeter_option_desc {
  uint32_t struct_size;
  int32_t type;
  tmeter_str key;
  tmeter_str default_value; /* as it would be written after --set KEY= */
  tmeter_str choices;       /* CHOICE: separated by spaces */
  tmeter_str text;          /* one line for `tmeter plugin info` and `tmeter config` */
  double min, max;          /* INT and FLOAT; min > max: no bounds. Exact up to 2^53 */
} tmeter_option_desc;

typedef struct tmeter_options {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_option_desc *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* handed back to get */
} tmeter_options;

#ifdef __cplusplus
}
#endif
#endif
