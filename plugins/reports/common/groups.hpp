// Operators by name, and modules by type or by function, with sums.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tmeter/cpp/graph.hpp>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "cells.hpp"

namespace reports {

using Sums = std::vector<Accumulator>;  // one per metric

Sums empty_sums(const std::vector<tmeter::Metric>& metrics);
std::vector<Cell> cells_of(const Sums& sums);

struct Group {
  std::string name;
  size_t count = 0;
  Sums sums;
};

/// Groups in the order of their first members.
class Groups {
 public:
  explicit Groups(const std::vector<tmeter::Metric>& metrics) : metrics_(metrics) {}
  Group& operator[](std::string_view name);
  std::deque<Group>& all() { return groups_; }
  const std::deque<Group>& all() const { return groups_; }

 private:
  const std::vector<tmeter::Metric>& metrics_;
  std::deque<Group> groups_;
  std::map<std::string, size_t, std::less<>> index_;
};

/// Visits the calls that module handlers gave values for. Operators inside have no values,
/// so these values must be added for groups to sum up to the total. `visit` gets one sum per
/// metric.
void for_each_value_by_module(
    const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics,
    const std::function<void(const tmeter::ModuleCall&, const Sums&)>& visit);

/// The values of each module without its inner modules, by module index; if a module handler gave a
/// value, that value.
std::vector<Sums> own_sums(const tmeter::Report& report,
                           const std::vector<tmeter::Metric>& metrics);

/// Adds the cells of a node; metrics of other axes are left out.
void add_node(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics,
              const tmeter::Node& node, Sums& sums);

/// Operators by name; then modules by type, for calls that module handlers gave values for.
Groups by_operator(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics);

/// Modules by type, each with its own values, so that rows sum up to the total.
Groups by_type(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics);

// Layers by function: Convolution, Linear, Attention, Recurrent, Normalization, Activation,
// Pooling, Embedding, Other.

inline constexpr std::string_view kOtherFamily = "Other";

/// The family of a module by the name of its class. A module with others inside is of a family
/// only if it attends or recurs: what such a module runs itself is its family's work.
std::string_view family_of(const tmeter::Module& module);

/// A layer: of a family, or without modules inside.
bool is_layer(const tmeter::Module& module);

/// Layers by family, each with its own values. Values of other modules are in Other,
/// so that rows sum up to the total.
Groups by_family(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics);

}  // namespace reports
