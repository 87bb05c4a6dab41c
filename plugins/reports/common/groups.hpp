// Operators by name and modules by type, with sums.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "figures.hpp"

namespace reports {

using Sums = std::vector<Accumulator>;  // one per metric

Sums empty_sums(const std::vector<tmeter::Metric>& metrics);
std::vector<Cell> cells_of(const Sums& sums);

struct Group {
  std::string name;
  size_t count = 0;
  Sums sums;
};

/// In the order in which they first appear.
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

/// Calls that module handlers gave figures for: what is inside has none of its own, and these are
/// added by themselves, so that what is grouped adds up to the total. One thing for each such call,
/// with the metrics (positions) it is about.
void for_each_answer(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics,
                     const std::function<void(const tmeter::ModuleCall&, const Sums&)>& visit);

/// What each module holds and runs itself, not what modules inside it do, by module index; where a
/// module handler gave a figure, that.
std::vector<Sums> own_figures(const tmeter::Report& report,
                              const std::vector<tmeter::Metric>& metrics);

/// Adds a node's own figures; metrics of other axes get none.
void add_node(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics,
              const tmeter::Node& node, Sums& sums);

/// Operators by name; then, of calls that module handlers gave figures for, the modules by type.
Groups by_operator(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics);

/// Modules by type, each with its own figures, so that rows add up to the total.
Groups by_type(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics);

}  // namespace reports
