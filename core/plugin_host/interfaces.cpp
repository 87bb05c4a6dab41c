#include "core/plugin_host/interfaces.hpp"

#include <tmeter/abi/draft/backward_rule.h>
#include <tmeter/abi/draft/blueprint.h>
#include <tmeter/abi/draft/folder.h>
#include <tmeter/abi/draft/option_tables.h>
#include <tmeter/abi/draft/trials.h>
#include <tmeter/abi/executor.h>

#include <map>
#include <string_view>

#include "core/base/version.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

std::map<std::string, const void*, std::less<>>& interfaces() {
  static auto* map = new std::map<std::string, const void*, std::less<>>();
  return *map;
}

const void* TMETER_ABI get_interface(const tmeter_host_v1*, tmeter_str id) {
  const auto it = interfaces().find(view(id));
  return it == interfaces().end() ? nullptr : it->second;
}

}  // namespace

void add_interface(const std::string& id, const void* table) { interfaces()[id] = table; }

void add_plugin_host_interfaces() {
  add_interface(TMETER_HOST_CALL, call_interface());
  add_interface(TMETER_HOST_RESULTS, results_interface());
  add_interface(TMETER_HOST_FINDINGS, findings_interface());
  add_interface(TMETER_HOST_DISTRIBUTIONS, distributions_interface());
  add_interface(TMETER_HOST_TENSOR_DATA, tensor_data_interface());
  add_interface(TMETER_HOST_HARDWARE, hardware_interface());
  add_interface(TMETER_HOST_GRAPH, graph_interface());
  add_interface(TMETER_HOST_BUILDER, builder_interface());
  add_interface(TMETER_HOST_SOURCE, source_interface());
  add_interface(TMETER_HOST_REQUEST, request_interface());
  add_interface(TMETER_HOST_FOLDER, folder_interface());
  add_interface(TMETER_HOST_BLUEPRINT, blueprint_interface());
  add_interface(TMETER_HOST_OPTION_TABLES, option_tables_interface());
  add_interface(TMETER_HOST_RUNS, runs_interface());
  add_interface(TMETER_HOST_EVENTS, events_interface());
  add_interface(TMETER_HOST_SHAPE_RULES, shape_rules_interface());
  add_interface(TMETER_HOST_TRIALS, trials_interface());
  add_interface(TMETER_HOST_BACKWARD_RULES, backward_rules_interface());
}

const tmeter_host_v1* host_table() {
  static constexpr std::string_view kName = "tmeter", kVersion = TMETER_VERSION;
  static const tmeter_host_v1 host{sizeof(tmeter_host_v1),
                                   TMETER_ABI_MINOR,
                                   {kName.data(), kName.size()},
                                   {kVersion.data(), kVersion.size()},
                                   get_interface};
  return &host;
}

}  // namespace tmeter::core
