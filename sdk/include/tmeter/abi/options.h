/*
 * Capability "tmeter.options/1": the options of a plugin. The host merges defaults <
 * configuration file < --set NAME.KEY=VALUE, checks type, range and choices, and passes the result
 * through the call (call.h). An unknown key is an error that names the nearest known one.
 */
#ifndef TMETER_ABI_OPTIONS_H
#define TMETER_ABI_OPTIONS_H
#include "base.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_OPTIONS "tmeter.options/1"

/* The type of an option. */
enum {
  TMETER_OPTION_TEXT = 0,  /* anything */
  TMETER_OPTION_INT = 1,   /* a whole number of 64 bits, in decimal */
  TMETER_OPTION_FLOAT = 2, /* a finite number: "0.5", "1e-3" */
  TMETER_OPTION_BOOL = 3,  /* true, 1, yes, on; false, 0, no, off */
  TMETER_OPTION_CHOICE = 4 /* one of `choices` */
};

/* One option. Texts live until `deinit`. */
typedef struct tmeter_option_desc {
  uint32_t struct_size;
  int32_t type;             /* TMETER_OPTION_… */
  tmeter_str key;           /* [a-z0-9_-]+, unique in the plugin */
  tmeter_str default_value; /* as after --set NAME.KEY=; must be valid */
  tmeter_str choices;       /* CHOICE: separated by spaces */
  tmeter_str text;          /* one line for `tmeter plugin info` and `tmeter config` */
  double min, max;          /* INT and FLOAT; min > max: no bounds. Exact up to 2^53 */
} tmeter_option_desc;

/* The table of "tmeter.options/1". */
typedef struct tmeter_options {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_option_desc *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_options;

#ifdef __cplusplus
}
#endif
#endif
