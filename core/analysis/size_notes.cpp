#include "core/analysis/size_notes.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

constexpr std::string_view kReplaced = "literals.replaced", kKept = "literals.kept";

std::vector<const Symbol*> assumed_symbols(const Graph& graph) {
  std::vector<const Symbol*> out;
  const auto names = split(std::string(graph.property("assumed.symbols")), " ");
  for (const auto& s : graph.symbols())
    if (!s.given && std::find(names.begin(), names.end(), s.name) != names.end()) out.push_back(&s);
  return out;
}

/// The first symbol whose value is below the file's range (Symbol::least); null: none.
const Symbol* below_range(const Graph& graph) {
  const auto& symbols = graph.symbols();
  const auto it = std::ranges::find_if(symbols, [](const auto& s) { return s.value < s.min; });
  return it == symbols.end() ? nullptr : &*it;
}

bool holds_everywhere(const Graph& graph) {
  return std::ranges::all_of(graph.conditions(), [&](const auto& c) { return graph.holds(c); }) &&
         !below_range(graph);
}

std::string shown(const Symbol& s) {
  return printable(std::string(s.place.empty() ? s.name : s.place));
}

/// "x.0=5, x.1=7"
std::string sizes_in(const Graph& graph, ExprId expr) {
  constexpr size_t kNamed = 5;
  const auto symbols = graph.expressions().symbols_in(expr);
  std::string out;
  for (size_t i = 0; i < std::min(kNamed, symbols.size()); ++i) {
    const auto& s = graph.symbols()[symbols[i]];
    out += (i ? ", " : "") + shown(s) + "=" + std::to_string(s.value);
  }
  return out + (symbols.size() > kNamed ? ", …" : "");
}

void mark(Cells& cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    auto value = cells[i];
    if (!is_number(value)) continue;
    value.flags = (value.flags & ~uint32_t{TMETER_NUMBER_PARTIAL}) | TMETER_NUMBER_ASSUMED;
    cells.set(i, value);
  }
}

}  // namespace

std::string recomputed_shapes_note(const Graph& graph) {
  const auto sizes = graph.property("sizes");
  if (sizes.empty()) return {};
  std::string note = "sizes " + std::string(sizes);
  const auto replaced = graph.property(kReplaced), kept = graph.property(kKept);
  if (!replaced.empty() && !kept.empty()) {
    note.append("; of the literals in the program ").append(replaced);
    note.append(" were computed again, ").append(kept).append(" kept");
  }
  return note;
}

void note_recomputed_shapes(const Graph& graph, Results& results) {
  const auto note = recomputed_shapes_note(graph);
  if (note.empty()) return;
  for (auto& c : results.columns) {
    if (c.axis == TMETER_AXIS_TENSOR || c.provenance == TMETER_PROVENANCE_UNAVAILABLE) continue;
    c.provenance_text += (c.provenance_text.empty() ? "" : "; ") + note;
  }
}

std::string assumed_sizes_note(const Graph& graph) {
  constexpr size_t kNamed = 5;
  const auto symbols = assumed_symbols(graph);
  if (symbols.empty()) return {};
  std::string names;
  for (size_t i = 0; i < std::min(kNamed, symbols.size()); ++i)
    names += (i ? ", " : "") + printable(std::string(symbols[i]->name)) + "=" +
             std::to_string(symbols[i]->value);
  if (symbols.size() > kNamed) names += " and " + std::to_string(symbols.size() - kNamed) + " more";
  return "sizes that depend on data have no recorded value; assumed " + names +
         " (the largest the file allows; where it sets no bound the smallest, but 2 at least); set "
         "others with --bind NAME=VALUE";
}

std::string unmet_conditions_note(const Graph& graph) {
  constexpr std::string_view kRecordedOperators =
      "; the values are those of the operators recorded in the file";
  if (const auto* n = graph.node_with_unmet_demand())
    return printable(n->full_name()) +
           (n->location.empty() ? "" : " (" + printable(n->location) + ")") +
           " refuses the sizes it gets: the model refuses its inputs or runs other operators" +
           std::string(kRecordedOperators);
  const Condition* first = nullptr;
  size_t unmet = 0;
  for (const auto& c : graph.conditions()) {
    if (graph.holds(c)) continue;
    if (!first) first = &c;
    ++unmet;
  }
  if (!first) {
    const auto* s = below_range(graph);
    if (!s) return {};
    return "the range of " + shown(*s) + " in the file begins at " + std::to_string(s->min) +
           " (torch.export distinguishes 0 and 1 from other sizes): for " + shown(*s) + "=" +
           std::to_string(s->value) + " the model may refuse its inputs, or run other operators" +
           std::string(kRecordedOperators);
  }
  const auto sizes = sizes_in(graph, first->expr);
  return "the model was exported for sizes with " +
         (first->text.empty() ? graph.expressions().text(first->expr) : std::string(first->text)) +
         ", which does not hold" + (sizes.empty() ? "" : " for " + sizes) +
         (unmet > 1 ? " (nor do " + std::to_string(unmet - 1) + " more conditions)" : "") +
         ": it may refuse these sizes, or run other operators" + std::string(kRecordedOperators);
}

bool rests_on_assumption(const Graph& graph) {
  return !graph.property("assumed").empty() || !assumed_symbols(graph).empty() ||
         !holds_everywhere(graph) || graph.node_with_unmet_demand();
}

void mark_assumed(const Graph& graph, Results& results) {
  if (!rests_on_assumption(graph)) return;
  for (auto& c : results.columns) {
    if (c.axis == TMETER_AXIS_TENSOR) continue;
    mark(c.cells[TMETER_AXIS_MODULE]);
    mark(c.cells[TMETER_AXIS_MODEL]);
  }
}

}  // namespace tmeter::core
