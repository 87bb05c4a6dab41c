// fvcore-json: every metric as the dictionaries that fvcore's analyses return – total, by_module,
// by_operator, by_module_and_operator – for scripts that were written for fvcore.
//
// As in fvcore, "" is the whole model, a module's value includes everything inside it, and
// operators have fvcore's names: "conv" for every convolution, others without namespace.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tmeter/cpp/op_class.hpp>
#include <tmeter/cpp/plugin.hpp>

#include "../common/cells.hpp"
#include "plugins/common/options.hpp"

namespace {

using Json = nlohmann::ordered_json;
using tmeter::Cell;
using tmeter::Metric;
using tmeter::Module;
using tmeter::Report;

Json number(const Cell& cell) {
  if (cell.is_int()) return cell.count().value();
  if (cell.is_number()) return cell.real();
  return cell.is_zero_by_rule() ? Json(0) : Json(nullptr);
}

/// Appends a new key; `object[key]` would search all others first.
void append(Json& object, std::string_view key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(std::string(key), std::move(value));
}

constexpr std::string_view kWhat = "what";

/// fvcore counts all convolutions under one name (jit_handles.py, conv_flop_jit).
std::string fvcore_name(std::string_view op) {
  const auto name = tmeter::base_name(op);
  const bool is_convolution = name.starts_with("conv") || name == "_convolution";
  return is_convolution ? "conv" : std::string(name);
}

/// Sums (or, for such metrics, maxima) by operator.
class ByOperator {
 public:
  explicit ByOperator(const Metric& metric) : max_(metric.aggregation() == TMETER_AGGREGATE_MAX) {}
  void add(std::string_view op, const Cell& cell) {
    if (!cell.is_number() || cell.real() == 0) return;  // fvcore lists operators that count
    auto& all = values_[fvcore_name(op)];
    if (max_)
      all = cell.real() > all.real() ? cell : all;
    else if (cell.is_int() && (all.is_int() || all.empty()))
      all = Cell(all.count() + cell.count());
    else
      all = Cell(all.real() + cell.real());
  }
  Json json() const {
    Json out = Json::object();
    for (const auto& [op, cell] : values_) append(out, op, number(cell));
    return out;
  }

 private:
  std::map<std::string, Cell> values_;
  bool max_;
};

Json by_module(const Report& report, const Metric& metric) {
  Json out = Json::object();
  for (const auto& m : report.graph().modules())
    append(out, m.path(), number(m.index() ? report.cell(metric, m) : report.total(metric)));
  return out;
}

/// The statuses of modules whose value is a bound or an assumption: "lower_bound", "assumed".
Json uncertain_statuses(const Report& report, const Metric& metric) {
  Json out = Json::object();
  for (const auto& m : report.graph().modules()) {
    const auto cell = m.index() ? report.cell(metric, m) : report.total(metric);
    if (cell.partial() || cell.assumed()) append(out, m.path(), *reports::status_of(cell, metric));
  }
  return out;
}

void add_operators(const Report& report, const Metric& metric, Json& out) {
  ByOperator whole(metric);
  std::vector<ByOperator> modules(report.graph().modules().size(), ByOperator(metric));
  for (const auto& node : report.graph().nodes()) {
    const auto cell = report.cell(metric, node);
    whole.add(node.op(), cell);
    for (Module m = node.call().module(); m; m = m.parent())
      modules[m.index()].add(node.op(), cell);
  }
  // Values of module handlers are listed under the module's type; fvcore has no equivalent.
  for (const auto& call : report.graph().module_calls()) {
    const auto cell = report.cell(metric, TMETER_AXIS_MODULE_CALL, call.index());
    if (!cell.by_module()) continue;
    whole.add(call.module().type(), cell);
    for (Module m = call.module(); m; m = m.parent())
      modules[m.index()].add(call.module().type(), cell);
  }
  out["by_operator"] = whole.json();
  Json both = Json::object();
  for (const auto& m : report.graph().modules()) append(both, m.path(), modules[m.index()].json());
  out["by_module_and_operator"] = std::move(both);
}

/// "flops.by_module": only this dictionary. Throws tmeter::Error that lists the available ones.
Json chosen(const Json& document, const std::string& what) {
  const auto* found = &document;
  for (size_t at = 0; at <= what.size();) {
    const auto end = std::min(what.find('.', at), what.size());
    const auto key = what.substr(at, end - at);
    if (!found->is_object() || !found->contains(key)) {
      std::string names;
      if (found->is_object())
        for (const auto& [name, value] : found->items())
          names += (names.empty() ? "; there are " : ", ") + what.substr(0, at) + name;
      throw tmeter::Error(TMETER_BAD_USAGE,
                          "--set fvcore-json.what=" + what + ": there is no such dictionary" +
                              names +
                              (at == 0 ? "; other plugins add more, as in --plugins=flops,"
                                         "activations"
                                       : ""));
    }
    found = &(*found)[key];
    at = end + 1;
    // Keys inside cannot be given, because paths of modules have dots.
    if (key.starts_with("by_") && at <= what.size())
      throw tmeter::Error(TMETER_BAD_USAGE, "--set fvcore-json.what=" + what + ": keys inside '" +
                                                what.substr(0, end) + "' cannot be chosen");
  }
  return *found;
}

void write(const Report& report, const std::string& what, tmeter::Output& out) {
  Json document = Json::object();
  for (const auto& metric : report.metrics()) {
    Json& entry = document[std::string(metric.id())];
    entry["total"] = number(report.total(metric));
    if (const auto from = metric.provenance_text(); !from.empty()) entry["provenance"] = from;
    if (auto status = uncertain_statuses(report, metric); !status.empty())
      entry["status"] = std::move(status);
    entry["by_module"] = by_module(report, metric);
    if (metric.axis() == TMETER_AXIS_NODE) add_operators(report, metric, entry);
  }
  Json unsupported = Json::object();
  for (const auto& op : report.unknown_ops()) append(unsupported, op.op, op.nodes);
  document["unsupported_ops"] = std::move(unsupported);
  if (const auto sizes = report.property("sizes"); !sizes.empty()) document["sizes"] = sizes;
  if (!what.empty()) document = chosen(document, what);
  out.write(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.fvcore-json",
                       .version = "1.0.0",
                       .description = "Report as fvcore's dictionaries: by module, by operator",
                   }),
                   [](tmeter::Registrar& r) {
                     r.option(plugins::text_option(
                         kWhat,
                         "a single dictionary: flops.by_module, flops.by_operator, "
                         "activations.by_module, …"));
                     r.writer("fvcore-json", "json", "application/json",
                              [](const Report& report, tmeter::Output& out, tmeter::Call& call) {
                                write(report, std::string(call.option_text(kWhat)), out);
                              });
                   })
