// A comparison for programs: docs/schema/tmeter-comparison-1.schema.json.
#include "../json/sections.hpp"
#include "../json/values.hpp"
#include "writers.hpp"

namespace diff_report {
namespace {

using json_report::Json;
using json_report::number;
using json_report::Stream;
using json_report::text_or_null;

Json status(const Cell& cell, const tmeter::Metric& metric) {
  const auto word = reports::status_of(cell, metric);
  return word ? Json(*word) : Json(nullptr);
}

/// Before, after and what lies between; what they are besides plain numbers only where they are.
Json change_json(const Change& change, const Column& column) {
  const auto difference = change.difference();
  const auto relative = change.relative();
  Json out{{"before", number(change.before)},
           {"after", number(change.after)},
           {"difference", difference ? number(*difference) : Json(nullptr)},
           {"relative", relative ? Json(*relative) : Json(nullptr)}};
  if (auto s = status(change.before, column.before); !s.is_null()) out["before_status"] = s;
  if (auto s = status(change.after, column.after); !s.is_null()) out["after_status"] = s;
  return out;
}

Json model_json(const tmeter::Report& report) {
  auto model = json_report::model(report);
  model["tool_version"] = report.property("tool.version");
  return model;
}

Json flags_json(uint32_t flags) {
  constexpr std::pair<uint32_t, const char*> kWords[] = {{TMETER_PAIR_ADDED, "added"},
                                                         {TMETER_PAIR_REMOVED, "removed"},
                                                         {TMETER_PAIR_RENAMED, "renamed"},
                                                         {TMETER_PAIR_REDEFINED, "redefined"},
                                                         {TMETER_PAIR_FIGURES, "figures"}};
  Json words = Json::array();
  for (const auto& [flag, word] : kWords)
    if (flags & flag) words.push_back(word);
  return words;
}

Json side_json(const tmeter::Report& report, const std::optional<tmeter::Module>& module) {
  if (!module) return nullptr;
  return {
      {"path", module->path()}, {"type", module->type()}, {"text", report.module_text(*module)}};
}

Json row_json(const Changes& changes, const tmeter_pair& pair) {
  const auto row = changes.row(pair);
  Json values = Json::object();
  for (size_t c = 0; c < row.changes.size(); ++c) {
    const auto& change = row.changes[c];
    if (change.before.empty() && change.after.empty()) continue;
    const auto& column = changes.columns()[c];
    values[std::string(column.after.id())] = change_json(change, column);
  }
  return {{"differs", flags_json(pair.flags)},
          {"before", side_json(changes.before(), row.before)},
          {"after", side_json(changes.after(), row.after)},
          {"values", std::move(values)}};
}

Json metric_json(const Column& c) {
  Json out{{"id", c.after.id()}, {"title", c.after.title()}, {"unit", c.after.unit()}};
  for (const auto& [key, metric] : {std::pair("before", &c.before), std::pair("after", &c.after)})
    out[key] = {{"convention", metric->convention()}, {"provenance", metric->provenance_text()}};
  return out;
}

Json counts_json(const Counts& c) {
  return {{"all", c.all},     {"same", c.same},       {"changed", c.changed},
          {"added", c.added}, {"removed", c.removed}, {"renamed", c.renamed}};
}

}  // namespace

void write_json(const Changes& changes, tmeter::Output& out) {
  Stream stream(out);
  stream.open('{');
  stream.section("schema", "tmeter-comparison/1");
  stream.section("before", model_json(changes.before()));
  stream.section("after", model_json(changes.after()));
  stream.list_lines("metrics", changes.columns(), metric_json);
  Json totals = Json::object();
  for (const auto& c : changes.columns())
    totals[std::string(c.after.id())] = change_json(changes.total(c), c);
  stream.section_lines("totals", totals);
  stream.section("counts", counts_json(changes.counts()));
  stream.list_lines("modules", changes.differing(SIZE_MAX),
                    [&](const tmeter_pair& p) { return row_json(changes, p); });
  json_report::assertions(stream, changes.after());
  stream.list_lines("notes", changes.view().notes(), [](const auto& note) { return Json(note); });
  stream.end_line(0).close('}').finish();
}

}  // namespace diff_report
