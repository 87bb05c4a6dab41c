#include <algorithm>

#include "look/look.hpp"
#include "paragraphs.hpp"
#include "tree.hpp"

namespace text_report {
namespace {

using tmeter::Report;

constexpr size_t kInputsShown = 6;
constexpr size_t kMaxValueIndent = 16;

// "resnet50.pt2 (97.80 MiB)"
Text file_item(const Report& report) {
  Text item(report.property("model.file"));
  const auto size = reports::file_size(report);
  if (!size.empty() && !item.empty()) item.add(" (" + size + ")", Style::kQuiet);
  return item;
}

// "x: f32[1, 3, 224, 224] (inferred)"
Text input_item(const tmeter::Graph& graph, size_t i) {
  Text item;
  if (const auto name = graph.input_name(i); !name.empty()) item.add(name).add(": ");
  item.add(describe(graph.inputs()[i]), Style::kType);
  const auto origin = graph.input_origin(i);
  if (!origin.empty() && origin != "recorded") item.add(" (").add(origin, Style::kWarning).add(")");
  return item;
}

std::vector<Text> input_items(const tmeter::Graph& graph) {
  std::vector<Text> items;
  const size_t n = graph.inputs().size();
  // A single remaining item is shown instead of "1 more".
  const size_t shown = n > kInputsShown + 1 ? kInputsShown : n;
  for (size_t i = 0; i < shown; ++i) {
    Text item(i > 0 ? "" : n == 1 ? "input " : "inputs ", Style::kQuiet);
    items.push_back(item.append(input_item(graph, i)));
  }
  if (shown < n) items.emplace_back("… " + std::to_string(n - shown) + " more inputs");
  return items;
}

}  // namespace

std::vector<Text> header(const Report& report, size_t width) {
  Text first(model_name(report), Style::kStrong);
  first.add("   ");
  const size_t indent = std::min(first.width(), kMaxValueIndent);
  std::vector<Text> items{first.append(file_item(report))};
  if (const auto format = reports::format_of(report); !format.empty()) items.emplace_back(format);
  if (const auto part = report.graph().property("part"); !part.empty())
    items.push_back(Text("part ", Style::kQuiet).add(part));
  // Before all values, because sizes that differ from the file affect them all.
  if (const auto sizes = report.property("sizes"); !sizes.empty())
    items.push_back(Text(sizes, Style::kWarning));
  auto inputs = input_items(report.graph());
  auto all = items;
  all.insert(all.end(), inputs.begin(), inputs.end());
  auto lines = flow_items(all, width, indent);
  if (lines.size() <= 1 || inputs.empty()) return lines;
  // If one line is too short, the inputs get lines of their own.
  lines = flow_items(items, width, indent);
  inputs[0] = Text().pad_to(indent).append(inputs[0]);
  for (auto& line : flow_items(inputs, width, indent)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace text_report
