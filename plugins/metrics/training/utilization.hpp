// Model and hardware FLOPs utilization: which share of the device's peak a step of a known duration
// reaches, without and with the work that checkpointing repeats.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace training {

/// By `training.step-time` and the hardware profile; nothing without the former.
void find_utilization(const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace training
