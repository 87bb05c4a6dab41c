// What an executor tells of one run, held against the contract (sdk abi/executor.h): what does not
// hold is the executor's failure, not that of the observers who would work with it.
#pragma once
#include <tmeter/abi/observer.h>

#include <cstdint>
#include <string>

#include "core/ir/graph.hpp"

namespace tmeter::core {

class ToldRun {
 public:
  /// `kind`: TMETER_RUN_…, which says what is told of it.
  ToldRun(const Graph& graph, int32_t kind) : graph_(&graph), kind_(kind) {}
  /// Throws Error(kPlugin) when the event cannot follow what was told before, or cannot be at all.
  void check(const tmeter_event& event);
  /// Of a run that has returned without an error: what was not told; empty when nothing.
  std::string lacks() const;

 private:
  void check_place(int32_t event) const;
  void check_node(const tmeter_event& event) const;
  void check_time(const tmeter_event& event);
  void check_operator(const tmeter_event& event);
  void check_memory(const tmeter_event& event);

  const Graph* graph_;
  int32_t kind_;
  bool begun_ = false, ended_ = false;
  const tmeter_node* at_work_ = nullptr;         // begun and not ended
  uint64_t run_begin_ = 0, operator_begin_ = 0;  // ns
  uint64_t last_ = 0, last_of_memory_ = 0;       // a GPU has a clock of its own
  int64_t moved_ = 0;                            // bytes allocated and freed, together
};

}  // namespace tmeter::core
