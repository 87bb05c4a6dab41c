#include "describe.hpp"

#include <algorithm>
#include <charconv>
#include <tmeter/cpp/units.hpp>

#include "cells.hpp"
#include "plugins/common/wording.hpp"

namespace reports {
namespace {

using tmeter::Report;

constexpr size_t kItemsShown = 4;    // of a list
constexpr size_t kUnknownShown = 8;  // operators without a rule

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

std::string describe_tensor(const tmeter::Value& value) {
  std::string text(value.dtype().code());
  text += '[';
  const auto shape = value.shape();
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i) text += ", ";
    if (const auto symbol = value.dim_text(i); !symbol.empty()) text.append(symbol) += '=';
    text += std::to_string(shape[i]);
  }
  return text += ']';
}

std::string describe_list(const tmeter::Value& value) {
  std::string text = "[";
  for (size_t i = 0; i < value.size(); ++i) {
    if (i) text += ", ";
    if (i == kItemsShown) {
      text += "… " + std::to_string(value.size() - i) + " more";
      break;
    }
    text += describe(value[i]);
  }
  return text += ']';
}

}  // namespace

std::string_view model_name(const Report& report) {
  const auto name = report.graph().property("name");
  if (!name.empty()) return name;
  const auto root = report.graph().root();
  return root && !root.type().empty() ? root.type() : "model";
}

std::string format_of(const Report& report) {
  const std::string format(report.graph().property("format"));
  const std::string producer(report.graph().property("producer"));
  if (format.empty() || producer.empty()) return format.empty() ? producer : format;
  return format + " (" + producer + ")";
}

std::string file_size(const Report& report) {
  const auto bytes = number_in(report.property("model.size"));
  return bytes ? plugins::bytes_text(*bytes) : "";
}

std::vector<std::pair<std::string, std::string>> output_values(const Report& report) {
  constexpr std::string_view kKey = "output-values.";
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [key, values] : report.run_facts())
    if (key.starts_with(kKey)) out.emplace_back(key.substr(kKey.size()), values);
  return out;
}

std::optional<double> analysis_seconds(const Report& report) {
  return number_in(report.property("analysis.seconds"));
}

std::string calls_mark(const tmeter::Module& module) {
  return module.calls() > 1 ? " (×" + std::to_string(module.calls()) + ")" : "";
}

std::string describe_input(const tmeter::Graph& graph, size_t i) {
  std::string text(graph.input_name(i));
  if (!text.empty()) text += ": ";
  text += describe(graph.inputs()[i]);
  const auto origin = graph.input_origin(i);
  if (!origin.empty() && origin != "recorded") text.append(" (").append(origin).append(")");
  return text;
}

std::string describe(const tmeter::Value& value) {
  switch (value.kind()) {
    case TMETER_VALUE_TENSOR:
      return describe_tensor(value);
    case TMETER_VALUE_LIST:
      return describe_list(value);
    case TMETER_VALUE_INT:
      return std::to_string(value.as_int());
    case TMETER_VALUE_FLOAT:
      return plain_number(value.as_float());
    case TMETER_VALUE_BOOL:
      return value.as_bool() ? "true" : "false";
    case TMETER_VALUE_NONE:
      return "none";
    case TMETER_VALUE_DTYPE:
      return std::string(tmeter::DType(static_cast<int32_t>(value.as_int())).name());
    default:
      return std::string(value.text());
  }
}

std::string describe(const tmeter::Metadata& fact) {
  const auto item = [&](uint32_t i) {
    switch (fact.type()) {
      case TMETER_METADATA_TEXT:
        return std::string(fact.text(i));
      case TMETER_METADATA_BOOL:
        return std::string(fact.as_int(0, i) ? "true" : "false");
      case TMETER_METADATA_INT:
        return std::to_string(fact.as_int(0, i));
      default:
        return tmeter::general(fact.as_float(0, i), 10);
    }
  };
  if (!fact.is_array()) return item(0);
  const uint32_t shown = std::min<uint32_t>(fact.size(), kItemsShown);
  std::string text = "[";
  for (uint32_t i = 0; i < shown; ++i) text += (i ? ", " : "") + item(i);
  if (fact.length() > shown) text += ", … " + std::to_string(fact.length());
  return text + "]";
}

std::string describe(const tmeter::Tensor& tensor) {
  std::string text(tensor.is_encoded() ? tensor.encoding() : tensor.dtype().code());
  text += "[";
  for (const auto d : tensor.shape()) text += (text.ends_with("[") ? "" : ", ") + std::to_string(d);
  return text + "]";
}

std::string describe_coverage(const Report& report) {
  const auto c = report.coverage();
  if (tmeter::to_view(c.metric).empty()) return {};
  return plugins::count_of(c.counted + c.zero_by_rule + c.unknown, "operator") + ": " +
         std::to_string(c.counted) + " counted, " + std::to_string(c.zero_by_rule) +
         " zero by rule, " + std::to_string(c.unknown) + " unknown";
}

std::string describe_unknown(const Report& report) {
  const auto ops = report.unknown_ops();
  if (ops.size() == 0) return {};
  return "no rule for " + plugins::listed(ops.size(), kUnknownShown, [&](size_t i) {
           return std::string(ops[i].op) + " ×" + std::to_string(ops[i].nodes);
         });
}

std::string describe_value(const Report& report, const tmeter::AssertionView& assertion) {
  const auto value = assertion.value();
  if (assertion.of_metric()) {
    const auto metric = report.metrics()[assertion.metric()];
    return shown_in_full(value, metric);
  }
  if (value.is_unavailable()) return "n/a";  // its plugin failed
  if (value.is_int()) return tmeter::grouped(value.count().value());
  return tmeter::scaled(value.real(), TMETER_UNIT_RATIO, "").text();
}

std::string describe_change(const tmeter::Report& report, const tmeter_change& change) {
  for (const auto& m : report.metrics()) {
    if (m.id() != tmeter::to_view(change.metric)) continue;
    const auto text = [&](double v) { return tmeter::scaled(v, m.unit_kind(), m.unit()).text(); };
    return std::string(m.title()) + " " + text(change.from) + " → " + text(change.to);
  }
  return {};
}

std::string describe_target(const tmeter::Graph& graph, const tmeter_target& target) {
  switch (target.axis) {
    case TMETER_AXIS_NODE:
      return plugins::place(graph.nodes()[target.index]);
    case TMETER_AXIS_MODULE:
      return std::string(graph.modules()[target.index].path());
    case TMETER_AXIS_MODULE_CALL:
      return std::string(graph.module_calls()[target.index].module().path());
    case TMETER_AXIS_TENSOR:
      return std::string(graph.tensors()[target.index].name());
    default:
      return {};
  }
}

FindingsByRow::FindingsByRow(const tmeter::Report& report) {
  size_t i = 0;
  for (const auto& finding : report.findings()) {
    for (const auto& target : finding.targets()) {
      if (target.axis == TMETER_AXIS_MODEL) continue;
      auto& row = rows_[{target.axis, target.index}];
      if (row.empty() || row.back() != i) row.push_back(i);
    }
    ++i;
  }
}

const std::vector<size_t>& FindingsByRow::of(int32_t axis, size_t index) const {
  static const std::vector<size_t> kNone;
  const auto at = rows_.find({axis, index});
  return at == rows_.end() ? kNone : at->second;
}

namespace {

void collect(const tmeter::Value& value, std::vector<tmeter::Tensor>& out) {
  if (value.is_list()) {
    for (size_t i = 0; i < value.size(); ++i) collect(value[i], out);
    return;
  }
  const auto tensor = value.tensor();
  if (!tensor) return;
  const auto same = [&](const tmeter::Tensor& t) { return t.index() == tensor.index(); };
  if (std::none_of(out.begin(), out.end(), same)) out.push_back(tensor);
}

}  // namespace

std::vector<tmeter::Tensor> tensors_of(const tmeter::Node& node) {
  std::vector<tmeter::Tensor> out;
  for (size_t i = 0; i < node.arg_count(); ++i) collect(node.arg(i), out);
  return out;
}

int64_t parameters_of(const tmeter::Node& node) {
  int64_t elements = 0;
  for (const auto& t : tensors_of(node))
    if (t.is_parameter()) elements += t.numel().value();
  return elements;
}

}  // namespace reports
