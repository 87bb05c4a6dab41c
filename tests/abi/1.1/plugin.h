/* What both plugins of this folder need. */
#ifndef FROZEN_PLUGIN_H
#define FROZEN_PLUGIN_H
#include <string.h>
#include <tmeter/abi/tmeter.h>

#define TEXT(literal) {literal, sizeof(literal) - 1}

/* A list of one item, `user` being the item. */
#define ONE(type, name)                                              \
  static const type *TMETER_ABI get_##name(uint32_t i, void *user) { \
    return i == 0 ? (const type *)user : NULL;                       \
  }

static inline tmeter_str text(const char *s) {
  const tmeter_str out = {s, strlen(s)};
  return out;
}
static inline int is(tmeter_str s, const char *word) {
  return s.len == strlen(word) && memcmp(s.ptr, word, s.len) == 0;
}
static inline const void *interface_of(const tmeter_host_v1 *host, const char *id) {
  return host->get_interface(host, text(id));
}

#endif
