// The graph's property "regions": how executors run the inlined nodes of torch.cond and
// torch.while_loop. Its lines, in the order of the nodes:
//
//   cond BEGIN TAKEN CONDITION | PLACE
//       before node BEGIN: CONDITION must be TAKEN (0 or 1)
//   while BEGIN BODY END CONDITION : CARRIED… : RESULTS… | PLACE
//       nodes [BEGIN, BODY) give CONDITION; while it holds, [BODY, END) give RESULTS, which the
//       next round has for CARRIED
//
// A value is "n12.0", the result of a node, or "i1", an input. If a value is neither, the property
// "control-flow" holds the reason why the graph cannot be run.
#include <algorithm>

#include "graph_reader.hpp"
#include "source_location.hpp"

namespace pt2 {

void GraphReader::expect_branches(const Ids& inputs) {
  branches_ = true;
  for (size_t i = 0; i < inputs.size(); ++i) places_.emplace(inputs[i], "i" + std::to_string(i));
}

void GraphReader::note_places(size_t node) {
  for (size_t i = 0; i < results_.size(); ++i)
    places_.emplace(results_[i], "n" + std::to_string(node) + "." + std::to_string(i));
}

std::string GraphReader::place_of(tmeter_id value) const {
  const auto it = places_.find(value);
  return it == places_.end() ? std::string() : it->second;
}

void GraphReader::cannot_be_run(std::string_view op, const NodeView& node) {
  building_.graph.property(
      "control-flow", std::string(op) + at_line(node.trace) +
                          " carries values that tmeter does not follow from one round to the next");
}

void GraphReader::note_region(const std::string& region, const NodeView& node,
                              std::string_view op) {
  regions_ += region + " | " + std::string(op) + at_line(node.trace) + "\n";
  building_.graph.property("regions", regions_);
}

void GraphReader::note_branch(const NodeView& node, tmeter_id condition, bool taken, size_t begin) {
  const auto on = place_of(condition);
  if (on.empty()) return cannot_be_run("torch.cond", node);
  note_region("cond " + std::to_string(begin) + " " + (taken ? "1 " : "0 ") + on, node,
              "torch.cond");
}

void GraphReader::note_loop(const NodeView& node, const Ids& carried, const Ids& others,
                            tmeter_id condition, const Ids& results, size_t begin, size_t body) {
  const auto once = [](Ids ids) {
    std::ranges::sort(ids);
    return std::ranges::adjacent_find(ids) == ids.end();
  };
  const auto made_in_body = [&](tmeter_id id) {
    const auto place = place_of(id);
    return place.starts_with('n') && std::stoul(place.substr(1)) >= body;
  };
  std::string carried_text, results_text;
  bool known = once(carried) && once(results) && !place_of(condition).empty();
  for (const auto id : carried) {
    known = known && !place_of(id).empty() && std::ranges::find(others, id) == others.end();
    carried_text += " " + place_of(id);
  }
  for (const auto id : results) {
    known = known && made_in_body(id);
    results_text += " " + place_of(id);
  }
  if (!known) return cannot_be_run("torch.while_loop", node);
  note_region("while " + std::to_string(begin) + " " + std::to_string(body) + " " +
                  std::to_string(emitted_) + " " + place_of(condition) + " :" + carried_text +
                  " :" + results_text,
              node, "torch.while_loop");
}

}  // namespace pt2
