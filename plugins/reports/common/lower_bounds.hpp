// Which figures of modules and of the model are lower bounds: an operator or tensor inside has
// none.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "figures.hpp"

namespace reports {

class LowerBounds {
 public:
  LowerBounds(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics);

  /// `metric`: position in the list given above.
  bool partial(size_t module, size_t metric) const {
    return module < modules_ ? partial_[module * width_ + metric] : false;
  }
  bool any() const;

  /// The figure of a module; of the root, that of the model.
  Reading reading(const tmeter::Report& report, const tmeter::Module& module, size_t metric) const;
  Reading total(const tmeter::Report& report, size_t metric) const;

 private:
  void find(const tmeter::Report& report, size_t metric);
  void mark(size_t module, size_t metric);

  std::vector<tmeter::Metric> metrics_;
  size_t width_, modules_;
  std::vector<bool> partial_;
};

}  // namespace reports
