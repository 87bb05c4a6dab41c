#include "core/merging/agreement.hpp"

#include <charconv>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::kModel, text); }

void require_weights(const Part& part) {
  const auto& graph = *part.saved.graph;
  if (graph.nodes().empty() && graph.inputs().empty()) return;
  refuse(printable(part.path) +
         ": this is the report of a model with operators, not of a shard of a checkpoint; `tmeter "
         "merge --index` lists models");
}

std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

/// Why values of the two cannot share a column; nothing if they can.
std::string difference(const Part& a, const Part& b) {
  const auto& theirs = b.saved.report.results;
  for (const auto& c : a.saved.report.results.columns) {
    const auto* other = theirs.find(c.id);
    if (!other) return "the metric " + quoted(c.id) + " is in the first alone";
    if (other->convention != c.convention || other->plugin != c.plugin || other->axis != c.axis ||
        other->aggregation != c.aggregation)
      return "the metric " + quoted(c.id) + " is counted in two ways";
  }
  for (const auto& c : theirs.columns)
    if (!a.saved.report.results.find(c.id))
      return "the metric " + quoted(c.id) + " is in the second alone";
  const std::map<std::string, std::string> ours(a.saved.report.config.begin(),
                                                a.saved.report.config.end());
  const std::map<std::string, std::string> options(b.saved.report.config.begin(),
                                                   b.saved.report.config.end());
  for (const auto& [key, value] : ours) {
    const auto it = options.find(key);
    if (it != options.end() && it->second != value)
      return "the option " + quoted(key) + " is " + quoted(value) + " and " + quoted(it->second);
  }
  return {};
}

void require_all_shards(const std::vector<Part>& parts) {
  std::map<std::pair<std::string, size_t>, std::set<size_t>> found;  // (name, of) → numbers
  for (const auto& p : parts) {
    size_t number = 0, of = 0;
    const auto name = unnumbered(p.model_file(), number, of);
    if (name.empty()) return;  // names without numbers
    found[{name, of}].insert(number);
  }
  if (found.size() > 1)
    refuse("these are shards of different checkpoints: " + quoted(found.begin()->first.first) +
           " in " + std::to_string(found.begin()->first.second) + " files and " +
           quoted(found.rbegin()->first.first) + " in " +
           std::to_string(found.rbegin()->first.second) + "; `tmeter merge --index` lists models");
  const auto& [what, numbers] = *found.begin();
  if (numbers.size() >= what.second) return;
  std::vector<std::string> missing;
  for (size_t i = 1; i <= what.second && missing.size() < 5; ++i)
    if (!numbers.contains(i)) missing.push_back(std::to_string(i));
  const auto lacking = what.second - numbers.size();
  refuse("of the " + std::to_string(what.second) + " shards of " + quoted(what.first) + " " +
         std::to_string(lacking) + (lacking == 1 ? " is" : " are") +
         " not among the reports: number " + joined(missing) +
         (lacking > missing.size() ? ", …" : "") + "; a sum without them would pass for the whole");
}

bool take_number(std::string_view& text, size_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string unnumbered(const std::string& file, size_t& number, size_t& of) {
  for (size_t dash = file.find('-'); dash != file.npos; dash = file.find('-', dash + 1)) {
    std::string_view rest = std::string_view(file).substr(dash + 1);
    if (!take_number(rest, number) || !rest.starts_with("-of-")) continue;
    rest.remove_prefix(4);
    if (!take_number(rest, of) || number < 1 || number > of) continue;
    return file.substr(0, dash) + std::string(rest);
  }
  return {};
}

void require_agreement(const std::vector<Part>& parts) {
  if (parts.empty()) throw Error(ErrorKind::kUsage, "there are no reports to be merged");
  for (const auto& p : parts) require_weights(p);
  for (const auto& p : parts) {
    const auto why = difference(parts.front(), p);
    if (!why.empty())
      refuse(printable(parts.front().path) + " and " + printable(p.path) + " cannot be merged: " +
             why + "; analyse all shards with the same --plugins and options");
  }
  require_all_shards(parts);
}

}  // namespace tmeter::core
