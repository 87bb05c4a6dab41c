/*
 * DRAFT: may change or be removed, and has an id of its own until it is final (docs/abi.md, rule 5).
 *
 * Host interface "tmeter.host.blueprint/0.1": the program of a model whose files contain only weights.
 *
 * A loader requests such models by the condition `metadata:SPACE` of a match (loader.h): the model was read, it has no
 * operators, and its files state metadata of this space ("config.json", "gguf"). `weights` gives that graph. The
 * builder has its content already, and the id of each module and tensor is its index plus one; the call of the root has
 * the id 1. The loader pushes the rest: modules without weights, calls, values, inputs, nodes, outputs. TMETER_UNSUPPORTED passes
 * the request to the next loader. If no loader supplies a program, only the weights are reported.
 */
#ifndef TMETER_ABI_DRAFT_BLUEPRINT_H
#define TMETER_ABI_DRAFT_BLUEPRINT_H
#include "../builder.h"
#include "../graph.h"
#include "../loader.h"
#ifdef __cplusplus
extern "C" {
#endif

#define TMETER_HOST_BLUEPRINT "tmeter.host.blueprint/0.1"

typedef struct tmeter_blueprint_api {
  uint32_t struct_size;
  uint32_t reserved;
  /* [any] The content of the files, valid during the call; null for other requests. */
  const tmeter_graph *(TMETER_ABI *weights)(const tmeter_request *);
  /* [serial] Names the class of a module that was read without one. */
  tmeter_status(TMETER_ABI *module_type)(tmeter_builder *, tmeter_id module, tmeter_str type);
} tmeter_blueprint_api;

#ifdef __cplusplus
}
#endif
#endif
