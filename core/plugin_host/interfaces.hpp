// The host table passed to plugins, and the interfaces behind `get_interface`.
//
// Each room of core that serves plugins defines its tables and adds them before plugins are opened.
#pragma once
#include <tmeter/abi/tmeter.h>

#include <string>

namespace tmeter::core {

/// `table` must outlive the process's plugins.
void add_interface(const std::string& id, const void* table);

/// The interfaces of this room: call, graph, builder, source, request, shape rules.
void add_plugin_host_interfaces();

const tmeter_host_v1* host_table();

// The tables of this room.
const tmeter_call_api* call_interface();
const tmeter_results_api* results_interface();
const tmeter_findings_api* findings_interface();
const tmeter_distributions_api* distributions_interface();
const tmeter_tensor_data_api* tensor_data_interface();
const tmeter_hardware_api* hardware_interface();
const tmeter_graph_api* graph_interface();
const tmeter_builder_api* builder_interface();
const tmeter_source_api* source_interface();
const tmeter_request_api* request_interface();
const void* option_tables_interface();  // tmeter_option_tables_api
const void* runs_interface();           // tmeter_runs_api
const void* events_interface();         // tmeter_events_api
const tmeter_shape_rules_api* shape_rules_interface();
const void* backward_rules_interface();  // tmeter_backward_rules_api
const void* trials_interface();          // tmeter_trials_api
const void* folder_interface();          // tmeter_folder_api
const void* blueprint_interface();       // tmeter_blueprint_api

}  // namespace tmeter::core
