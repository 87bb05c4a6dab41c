#include "rows.hpp"

#include <charconv>
#include <limits>
#include <tmeter/cpp/module_ids.hpp>
#include <tmeter/cpp/vocabulary.hpp>

#include "columns.hpp"
#include "describe.hpp"
#include "groups.hpp"

namespace reports {
namespace {

using tmeter::Metric;
using tmeter::Module;
using tmeter::Report;

enum class Kind {
  kModules,
  kOperators,
  kCalls,
  kTypes,
  kFamilies,
  kModulesByType,
  kTensors,
  kSweep
};

size_t depth_of(const Report& report, const RowOptions& options, size_t fallback) {
  const auto text = options.depth.empty() ? report.view("depth") : options.depth;
  if (text.empty()) return fallback;
  if (text == "all") return std::numeric_limits<size_t>::max();
  size_t depth = 0;
  std::from_chars(text.data(), text.data() + text.size(), depth);
  return depth;
}

Kind kind_of(const Report& report, const RowOptions& options) {
  if (options.by.empty() && report.sweep().symbols.len > 0) return Kind::kSweep;
  const auto by = options.by.empty() ? report.view("by") : options.by;
  const bool members = depth_of(report, options, 1) >= 2;
  if (by == "operator") return members ? Kind::kCalls : Kind::kOperators;
  if (by == "type") return members ? Kind::kModulesByType : Kind::kTypes;
  if (by == "family") return Kind::kFamilies;
  if (by == "tensor") return Kind::kTensors;
  if (by.empty() || by == "module") return Kind::kModules;
  throw tmeter::Error(
      TMETER_BAD_USAGE,
      "--by takes module, operator, type, family or tensor, not '" + std::string(by) + "'");
}

std::vector<std::string> symbol_names(const Report& report) {
  const auto sweep = report.sweep();
  const auto symbols = report.graph().symbols();
  std::vector<std::string> names;
  for (size_t i = 0; i < sweep.symbols.len; ++i)
    names.emplace_back(tmeter::to_view(symbols[static_cast<size_t>(sweep.symbols.ptr[i])].name));
  return names;
}

std::string shape_text(const tmeter::Shape& shape) {
  std::string text = "[";
  for (const auto d : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

class Writer {
 public:
  using Put = std::function<void(const Row&)>;
  Writer(const Report& report, const std::vector<Metric>& metrics, const RowOptions& options,
         const Put& put)
      : report_(report), graph_(report.graph()), metrics_(metrics), options_(options), put_(put) {}

  void write(Kind kind) {
    switch (kind) {
      case Kind::kModules:
        return modules();
      case Kind::kOperators:
        return groups(by_operator(report_, metrics_));
      case Kind::kCalls:
        return calls();
      case Kind::kTypes:
        return groups(by_type(report_, metrics_));
      case Kind::kFamilies:
        return groups(by_family(report_, metrics_));
      case Kind::kModulesByType:
        return modules_by_type();
      case Kind::kTensors:
        return tensors();
      case Kind::kSweep:
        return sweep();
    }
  }

 private:
  std::string path_of(const Module& m) const {
    return options_.leading_dot ? "." + std::string(m.path()) : std::string(m.path());
  }

  void modules() {
    const auto ids = tmeter::module_ids(graph_);
    const auto deepest = depth_of(report_, options_, std::numeric_limits<size_t>::max());
    const auto facts = chosen_facts(report_);
    const auto chosen = chosen_modules(report_);
    std::vector<size_t> levels(graph_.modules().size());
    for (const auto& m : graph_.modules()) {
      const size_t level = m.parent() ? levels[m.parent().index()] + 1 : 0;
      levels[m.index()] = level;
      if (level > deepest || !chosen[m.index()]) continue;
      Row row{{ids[m.index()], path_of(m), std::string(m.type()), std::to_string(m.calls())}, {}};
      for (const auto fact : facts) row.words.emplace_back(report_.fact(m, fact));
      for (const auto& metric : metrics_) row.cells.push_back(module_cell(report_, metric, m));
      put_(row);
    }
  }

  void groups(const Groups& groups) {
    for (const auto& g : groups.all()) put_({{g.name, std::to_string(g.count)}, cells_of(g.sums)});
  }

  void calls() {
    for (const auto& node : graph_.nodes()) {
      const auto module = node.call() ? node.call().module() : graph_.root();
      Row row{{std::to_string(node.index()), std::string(node.op()), std::string(node.overload()),
               module ? path_of(module) : std::string(), std::string(node.location()),
               node.result_count() ? describe(node.result(0)) : std::string()},
              {}};
      for (const auto& m : metrics_)
        row.cells.push_back(m.axis() == TMETER_AXIS_NODE ? report_.cell(m, node) : Cell());
      put_(row);
    }
    for_each_value_by_module(report_, metrics_,
                             [&](const tmeter::ModuleCall& call, const Sums& given) {
                               put_({{"", std::string(call.module().qualified_type()), "",
                                      path_of(call.module()), "", ""},
                                     cells_of(given)});
                             });
  }

  void modules_by_type() {
    const auto ids = tmeter::module_ids(graph_);
    const auto own = own_sums(report_, metrics_);
    for (const auto& m : graph_.modules())
      put_({{ids[m.index()], path_of(m), std::string(m.qualified_type())},
            cells_of(own[m.index()])});
  }

  void tensors() {
    for (const auto& t : graph_.tensors()) {
      Row row{{std::string(t.name()), std::string(tmeter::vocabulary::kTensorKinds.word(t.kind())),
               std::string(t.type_name()), shape_text(t.shape()), std::to_string(t.numel().value()),
               t.trainable() ? "true" : "false",
               t.is_tied() ? std::string(t.canonical().name()) : std::string()},
              {}};
      for (const auto& m : metrics_) row.cells.push_back(report_.cell(m, t));
      put_(row);
    }
  }

  void sweep() {
    for (size_t p = 0; p < report_.sweep().point_count; ++p) {
      Row row;
      const auto point = report_.sweep_point(p);
      for (size_t i = 0; i < point.len; ++i) row.words.push_back(std::to_string(point.ptr[i]));
      for (const auto& metric : metrics_) row.cells.push_back(report_.sweep_total(p, metric));
      put_(row);
    }
  }

  const Report& report_;
  const tmeter::Graph graph_;
  const std::vector<Metric>& metrics_;
  const RowOptions& options_;
  const Put& put_;
};

}  // namespace

std::vector<std::string> row_titles(const Report& report, const RowOptions& options) {
  switch (kind_of(report, options)) {
    case Kind::kOperators:
      return {"operator", "calls"};
    case Kind::kCalls:
      return {"index", "operator", "overload", "module", "location", "result"};
    case Kind::kTypes:
      return {"type", "modules"};
    case Kind::kFamilies:
      return {"family", "layers"};
    case Kind::kModulesByType:
      return {"id", "path", "type"};
    case Kind::kTensors:
      return {"name", "kind", "dtype", "shape", "elements", "trainable", "tied_to"};
    case Kind::kSweep:
      return symbol_names(report);
    default:
      break;
  }
  std::vector<std::string> titles{"id", "path", "type", "calls"};
  for (const auto fact : chosen_facts(report)) titles.emplace_back(fact);
  return titles;
}

void for_each_row(const Report& report, const std::vector<Metric>& metrics,
                  const RowOptions& options, const std::function<void(const Row&)>& put) {
  Writer(report, metrics, options, put).write(kind_of(report, options));
}

}  // namespace reports
