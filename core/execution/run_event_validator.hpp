// Checks the events that an executor reports of one run against the contract (sdk abi/executor.h).
// A violation is the executor's failure, not that of the observers that receive the events.
#pragma once
#include <tmeter/abi/observer.h>

#include <cstdint>
#include <string>

#include "core/ir/graph.hpp"

namespace tmeter::core {

class RunEventValidator {
 public:
  /// `kind`: TMETER_RUN_…, which decides the events that are reported.
  RunEventValidator(const Graph& graph, int32_t kind) : graph_(&graph), kind_(kind) {}
  /// Throws Error(kPlugin) if the event is invalid, by itself or after those before.
  void check(const tmeter_event& event);
  /// For a run that has returned without an error: describes the event that is missing, if any.
  std::string missing_event() const;

 private:
  void check_place(int32_t event) const;
  void check_node(const tmeter_event& event) const;
  void check_time(const tmeter_event& event);
  void check_operator(const tmeter_event& event);
  void check_memory(const tmeter_event& event);

  const Graph* graph_;
  int32_t kind_;
  bool begun_ = false, ended_ = false;
  const tmeter_node* current_ = nullptr;         // the operator in progress
  uint64_t run_begin_ = 0, operator_begin_ = 0;  // ns
  uint64_t last_ = 0, last_memory_ = 0;          // two: a GPU has its own clock
  int64_t total_bytes_ = 0;                      // sum of allocated and freed bytes
};

}  // namespace tmeter::core
