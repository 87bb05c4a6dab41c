/*
 * DRAFT: may change or be removed, and has an id of its own until it is final (docs/abi.md, rule 5).
 *
 * Host interface "tmeter.host.comparison/0.1": the parts that a report of `tmeter diff A B` adds
 * to a report of B. Its writers are ordinary ones (report.h) whose names begin with "diff-".
 */
#ifndef TMETER_ABI_DRAFT_COMPARISON_H
#define TMETER_ABI_DRAFT_COMPARISON_H
#include "../report.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_COMPARISON "tmeter.host.comparison/0.1"

enum {
  TMETER_PAIR_ADDED = 1u,     /* only in B */
  TMETER_PAIR_REMOVED = 2u,   /* only in A */
  TMETER_PAIR_RENAMED = 4u,   /* at a different path than in A; matched by its structure */
  TMETER_PAIR_REDEFINED = 8u, /* its own type, settings or tensors differ */
  TMETER_PAIR_FIGURES = 16u   /* a value differs */
};

/* A module of A and its match in B. */
typedef struct tmeter_pair { /* growable; the host fills it */
  uint32_t struct_size;
  uint32_t flags;       /* 0: nothing differs */
  size_t before, after; /* indices; SIZE_MAX if missing */
  size_t depth;         /* in the tree of the comparison */
} tmeter_pair;

typedef struct tmeter_comparison_api { /* all [any] */
  uint32_t struct_size;
  uint32_t reserved;
  /* The report of A; null: the report is not a comparison. */
  const tmeter_report *(TMETER_ABI *before)(const tmeter_report *);
  /* B's modules in pre-order, and removed modules of A at their former places. */
  size_t(TMETER_ABI *pair_count)(const tmeter_report *);
  tmeter_status(TMETER_ABI *pair_at)(const tmeter_report *, size_t, tmeter_pair *out);
  /* Notes for readers of the comparison, one sentence each: other inputs, other conventions. */
  size_t(TMETER_ABI *note_count)(const tmeter_report *);
  tmeter_str(TMETER_ABI *note_at)(const tmeter_report *, size_t);
} tmeter_comparison_api;

#ifdef __cplusplus
}
#endif
#endif
