// A comparison for programs: docs/schema/tmeter-comparison-1.schema.json.
#include "../json/values.hpp"
#include "../json/writer.hpp"
#include "changes.hpp"

namespace diff_report {
namespace {

using reports::JsonStream;

/// Before, after and the difference; their statuses only if they are not plain numbers.
void write_change(JsonStream& stream, const Change& change, const Column& column) {
  const auto difference = change.difference();
  const auto relative = change.relative();
  stream.open('{').key("before").number(change.before).key("after").number(change.after);
  stream.key("difference").number(difference.value_or(Cell()));
  stream.key("relative");
  relative ? stream.real(*relative) : stream.null();
  if (const auto status = reports::status_of(change.before, column.before))
    stream.key("before_status").text(*status);
  if (const auto status = reports::status_of(change.after, column.after))
    stream.key("after_status").text(*status);
  stream.close('}');
}

void write_model(JsonStream& stream, std::string_view name, const tmeter::Report& report) {
  stream.member(name).open('{');
  json_report::model_members(stream, report);
  stream.key("tool_version").text(report.property("tool.version")).close('}');
}

void write_flags(JsonStream& stream, uint32_t flags) {
  constexpr std::pair<uint32_t, const char*> kWords[] = {{TMETER_PAIR_ADDED, "added"},
                                                         {TMETER_PAIR_REMOVED, "removed"},
                                                         {TMETER_PAIR_RENAMED, "renamed"},
                                                         {TMETER_PAIR_REDEFINED, "redefined"},
                                                         {TMETER_PAIR_FIGURES, "figures"}};
  stream.open('[');
  for (const auto& [flag, word] : kWords)
    if (flags & flag) stream.text(word);
  stream.close(']');
}

void write_side(JsonStream& stream, const tmeter::Report& report,
                const std::optional<tmeter::Module>& module) {
  if (!module) {
    stream.null();
    return;
  }
  stream.open('{').key("path").text(module->path()).key("type").text(module->type());
  stream.key("text").text(report.module_text(*module)).close('}');
}

void write_row(JsonStream& stream, const Changes& changes, const tmeter_pair& pair) {
  const auto row = changes.row(pair);
  write_flags(stream.open('{').key("differs"), pair.flags);
  write_side(stream.key("before"), changes.before(), row.before);
  write_side(stream.key("after"), changes.after(), row.after);
  stream.key("values").open('{');
  for (size_t c = 0; c < row.changes.size(); ++c) {
    const auto& change = row.changes[c];
    if (change.before.empty() && change.after.empty()) continue;
    const auto& column = changes.columns()[c];
    write_change(stream.key(column.after.id()), change, column);
  }
  stream.close('}').close('}');
}

void write_metric(JsonStream& stream, const Column& c) {
  stream.open('{').key("id").text(c.after.id()).key("title").text(c.after.title());
  stream.key("unit").text(c.after.unit());
  for (const auto& [key, metric] : {std::pair("before", &c.before), std::pair("after", &c.after)}) {
    stream.key(std::string_view(key)).open('{').key("convention").text(metric->convention());
    stream.key("provenance").text(metric->provenance_text()).close('}');
  }
  stream.close('}');
}

void write_counts(JsonStream& stream, const Counts& c) {
  stream.member("counts").open('{').key("all").natural(c.all).key("same").natural(c.same);
  stream.key("changed").natural(c.changed).key("added").natural(c.added);
  stream.key("removed").natural(c.removed).key("renamed").natural(c.renamed).close('}');
}

}  // namespace

void write_json(const Changes& changes, tmeter::Output& out) {
  JsonStream stream(out);
  stream.open('{').member("schema").text("tmeter-comparison/1");
  write_model(stream, "before", changes.before());
  write_model(stream, "after", changes.after());
  stream.list_lines("metrics", changes.columns(),
                    [&](const Column& c) { write_metric(stream, c); });
  stream.object_lines("totals", changes.columns(), [&](const Column& c) {
    write_change(stream.key(c.after.id()), changes.total(c), c);
  });
  write_counts(stream, changes.counts());
  stream.list_lines("modules", changes.differing(SIZE_MAX),
                    [&](const tmeter_pair& p) { write_row(stream, changes, p); });
  json_report::assertions(stream, changes.after());
  stream.list_lines("notes", changes.view().notes(), [&](const auto& note) { stream.text(note); });
  stream.end_line(0).close('}').finish();
}

}  // namespace diff_report
