/*
 * The sizes of growable structs in their first minor version: the permanent minimum of a struct.
 *
 * The struct of a plugin built against that minor ends here, before all later members. A host
 * of any 1.x therefore compares `struct_size` with these, never with its own sizeof, and
 * finds later members with TMETER_HAS. Each line names the last member of that version, so that it
 * is valid on every machine; a line never changes.
 */
#ifndef TMETER_ABI_SIZES_H
#define TMETER_ABI_SIZES_H
#include "base.h"

/* Bytes of `type` in ABI 1.0: TMETER_SIZE_1_0(tmeter_metric_desc). */
#define TMETER_SIZE_1_0(type) TMETER_END_OF(type, TMETER_LAST_1_0_##type)

/* Structs from plugins to the host. */
#define TMETER_LAST_1_0_tmeter_plugin_entry_v1 configure
#define TMETER_LAST_1_0_tmeter_plugin_info rights
#define TMETER_LAST_1_0_tmeter_metrics user
#define TMETER_LAST_1_0_tmeter_metric_desc description
#define TMETER_LAST_1_0_tmeter_options user
#define TMETER_LAST_1_0_tmeter_option_desc max
#define TMETER_LAST_1_0_tmeter_op_classes user
#define TMETER_LAST_1_0_tmeter_op_class name
#define TMETER_LAST_1_0_tmeter_op_handlers user
#define TMETER_LAST_1_0_tmeter_op_handler eval
#define TMETER_LAST_1_0_tmeter_module_handlers user
#define TMETER_LAST_1_0_tmeter_module_handler follows
#define TMETER_LAST_1_0_tmeter_analyses user
#define TMETER_LAST_1_0_tmeter_analysis user
#define TMETER_LAST_1_0_tmeter_tensor_analyses user
#define TMETER_LAST_1_0_tmeter_tensor_analysis user
#define TMETER_LAST_1_0_tmeter_shape_rules user
#define TMETER_LAST_1_0_tmeter_shape_rule infer
#define TMETER_LAST_1_0_tmeter_loaders user
#define TMETER_LAST_1_0_tmeter_loader engine
#define TMETER_LAST_1_0_tmeter_propagators user
#define TMETER_LAST_1_0_tmeter_propagator user
#define TMETER_LAST_1_0_tmeter_writers user
#define TMETER_LAST_1_0_tmeter_writer user
#define TMETER_LAST_1_0_tmeter_tensor_desc source
#define TMETER_LAST_1_0_tmeter_node_desc location
#define TMETER_LAST_1_0_tmeter_finding change_count
#define TMETER_LAST_1_0_tmeter_distribution bin_count
#define TMETER_LAST_1_0_tmeter_series point_count

/* Structs that the host fills for plugins, and structs that it passes to them. */
#define TMETER_LAST_1_0_tmeter_symbol_info place
#define TMETER_LAST_1_0_tmeter_input_spec value
#define TMETER_LAST_1_0_tmeter_archive_entry offset
#define TMETER_LAST_1_0_tmeter_tensor_part earlier
#define TMETER_LAST_1_0_tmeter_chunk bytes
#define TMETER_LAST_1_0_tmeter_metric_info plugin
#define TMETER_LAST_1_0_tmeter_coverage unknown
#define TMETER_LAST_1_0_tmeter_formula term_count
#define TMETER_LAST_1_0_tmeter_term powers
#define TMETER_LAST_1_0_tmeter_sweep point_count
#define TMETER_LAST_1_0_tmeter_assertion module

/* The host's tables. */
#define TMETER_LAST_1_0_tmeter_host_v1 get_interface
#define TMETER_LAST_1_0_tmeter_call_api graph
#define TMETER_LAST_1_0_tmeter_results_api op_class
#define TMETER_LAST_1_0_tmeter_findings_api add
#define TMETER_LAST_1_0_tmeter_distributions_api add_series
#define TMETER_LAST_1_0_tmeter_tensor_data_api view
#define TMETER_LAST_1_0_tmeter_hardware_api number
#define TMETER_LAST_1_0_tmeter_graph_api module_call_outputs
#define TMETER_LAST_1_0_tmeter_builder_api node_name
#define TMETER_LAST_1_0_tmeter_source_api companion
#define TMETER_LAST_1_0_tmeter_request_api input_at
#define TMETER_LAST_1_0_tmeter_shape_rules_api end
#define TMETER_LAST_1_0_tmeter_report_api assertion_at
#define TMETER_LAST_1_0_tmeter_output_api columns

/* New in 1.1. */
#define TMETER_SIZE_1_1(type) TMETER_END_OF(type, TMETER_LAST_1_1_##type)
#define TMETER_LAST_1_1_tmeter_executors user
#define TMETER_LAST_1_1_tmeter_executor user
#define TMETER_LAST_1_1_tmeter_observers user
#define TMETER_LAST_1_1_tmeter_observer user
#define TMETER_LAST_1_1_tmeter_event threads
#define TMETER_LAST_1_1_tmeter_run_request library_count
#define TMETER_LAST_1_1_tmeter_runs_api stopped
#define TMETER_LAST_1_1_tmeter_events_api weights

/* After 1.1: TMETER_HAS and TMETER_IS_SET check whether the other side has a member. */
#define TMETER_SIZE_1_2(type) TMETER_END_OF(type, TMETER_LAST_1_2_##type)
#define TMETER_LAST_1_2_tmeter_metadata floats
#define TMETER_LAST_1_2_tmeter_stored_part source
#define TMETER_LAST_1_2_tmeter_tensor_storage reserved

#endif
