// A plugin's capability tables, copied once when it is opened. The host reads the copies, never the
// plugin's memory. Texts and lists are copies, too; functions and `user` pointers are the plugin's.
#pragma once
#include <tmeter/abi/draft/backward_rule.h>
#include <tmeter/abi/draft/decoder.h>
#include <tmeter/abi/executor.h>
#include <tmeter/abi/tmeter.h>

#include <memory>
#include <string>
#include <vector>

#include "core/plugin_host/plugin_instance.hpp"
#include "core/plugin_host/text_store.hpp"

namespace tmeter::core {

struct PluginCapabilities {
  std::vector<tmeter_metric_desc> metrics;
  std::vector<tmeter_option_desc> options;
  std::vector<tmeter_option_desc> option_tables;  // draft/option_tables.h
  std::vector<tmeter_op_class> op_classes;
  std::vector<tmeter_op_handler> op_handlers;
  std::vector<tmeter_module_handler> module_handlers;
  std::vector<tmeter_analysis> analyses;
  std::vector<tmeter_tensor_analysis> tensor_analyses;
  std::vector<tmeter_shape_rule> shape_rules;
  std::vector<tmeter_backward_rule> backward_rules;  // draft/backward_rule.h
  std::vector<tmeter_loader> loaders;
  std::vector<tmeter_decoder> decoders;  // draft/decoder.h
  std::vector<tmeter_propagator> propagators;
  std::vector<tmeter_writer> writers;
  std::vector<tmeter_executor> executors;  // executor.h
  std::vector<tmeter_observer> observers;  // observer.h

  // Items that this tmeter does not support and works without (check_capabilities).
  std::vector<std::string> left_out;  // metrics
  std::vector<std::string> notes;  // one for each defect: "metric 'm' has an unknown axis, 99; …"

  std::shared_ptr<TextStore> texts = std::make_shared<TextStore>();  // texts of the tables
};

/// Throws Error(kPlugin), naming plugin, table and index, when a struct is smaller than in ABI 1.0
/// or missing, or if there are more than plugin_limits.hpp permits.
PluginCapabilities read_capabilities(const PluginInstance& plugin);

/// Checks the tables once, when the plugin is opened, for all their later users: missing callbacks,
/// invalid names, duplicates. Throws Error(kPlugin), naming plugin, table and item. An item with a
/// value that a later minor may define – an axis, an aggregation, an option's type, an optional
/// right – is changed or left out, and `offers.notes` reports it.
void check_capabilities(const PluginInstance& plugin, PluginCapabilities& offers);

}  // namespace tmeter::core
