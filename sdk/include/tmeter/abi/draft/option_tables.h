/*
 * DRAFT: may change or be removed, and has an id of its own until it is final (docs/abi.md, rule 5).
 *
 * Capability "tmeter.option-tables/0.1": options in tables of a configuration file. Some tables have names that
 * the user chooses (a level of a tree, a column):
 *
 *   [plugin.text.column.macs]        the option "column.macs.style", declared as "column.*.style"
 *   style = "green"                  on the command line: --set text.column.macs.style=green
 *
 * They are checked like those of "tmeter.options/1": an undeclared path, a wrong type, a value out of
 * range are reported with the file's line and column. The plugin itself refuses values that only it can judge
 * (`fail_at`), and the host adds the place.
 */
#ifndef TMETER_ABI_DRAFT_OPTION_TABLES_H
#define TMETER_ABI_DRAFT_OPTION_TABLES_H
#include "../options.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_CAP_OPTION_TABLES "tmeter.option-tables/0.1"
#define TMETER_HOST_OPTION_TABLES "tmeter.host.option-tables/0.1"

/* The capability's table. A key is a path of names, joined by '.'; the name "*" stands for any name of the user:
 * letters, digits, '_' and '-'. A path without it takes precedence. A TEXT whose `choices` is
 * "list" may be a list in the configuration file, too: it arrives as a text, its items joined by ", ". */
typedef struct tmeter_option_tables {
  uint32_t struct_size;
  uint32_t count;
  const tmeter_option_desc *(TMETER_ABI *get)(uint32_t index, void *user); /* [any] */
  void *user; /* passed to get */
} tmeter_option_tables;

/* A given option. */
typedef struct tmeter_given_option { /* growable; the host fills it. Texts live until `deinit`. */
  uint32_t struct_size;
  uint32_t declared; /* index of its declaration */
  tmeter_str path;   /* "column.macs.style" */
  tmeter_str text;   /* as the user wrote it */
  int64_t i;         /* of an INT; of a BOOL 1 or 0 */
  double f;          /* of a FLOAT or INT */
} tmeter_given_option;

/* The host's half: the given options of this call's plugin. */
typedef struct tmeter_option_tables_api { /* all [any] */
  uint32_t struct_size;
  uint32_t reserved;
  size_t(TMETER_ABI *count)(tmeter_call *); /* number of given options; all others have their defaults */
  /* Ordered by path. */
  tmeter_status(TMETER_ABI *at)(tmeter_call *, size_t, tmeter_given_option *out);
  /* Sets the error text of this call: `message`, after the place of byte `offset` of the option's text
   * ("tmeter.toml:3:14: "). Return TMETER_BAD_USAGE afterwards. */
  void(TMETER_ABI *fail_at)(tmeter_call *, size_t index, size_t offset, tmeter_str message);
  /* Non-zero when an installed plugin has a metric with this id, even if it takes no part in the run. */
  int32_t(TMETER_ABI *is_metric)(tmeter_call *, tmeter_str id);
} tmeter_option_tables_api;

#ifdef __cplusplus
}
#endif
#endif
