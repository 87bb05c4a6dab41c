#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/analysis/findings.hpp"
#include "core/analysis/rollup.hpp"
#include "core/base/version.hpp"
#include "core/merging/merging.hpp"
#include "core/merging/pooled.hpp"
#include "core/merging/union_graph.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kNamed = 12;  // metrics named in a message

class Merge {
 public:
  explicit Merge(std::vector<Part> parts) : parts_(std::move(parts)) {
    require_agreement(parts_);
    // In the order in which the loader of the whole checkpoint reads them.
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const Part& a, const Part& b) { return a.model_file() < b.model_file(); });
    whole_ = unite(parts_);
  }

  SavedReport run() {
    report_.graph = whole_.graph.get();
    for (const auto& c : first().results.columns) take_column(c);
    roll_up();
    for (size_t p = 0; p < parts_.size(); ++p) take_findings(p);
    name_files();
    add_summary();
    describe();
    return {std::move(whole_.graph), std::move(report_)};
  }

 private:
  const Report& first() const { return parts_.front().saved.report; }
  Results& results() { return report_.results; }

  void take_column(const Column& from) {
    auto& c = results().columns.emplace_back(from);
    for (auto& cells : c.cells) cells.clear();
    take_provenance(c);
    if (c.axis != TMETER_AXIS_TENSOR) return take_total(c);
    auto& cells = c.cells[TMETER_AXIS_TENSOR];
    for (const auto& o : whole_.origins)
      cells.add(at(o.part, c).cell(TMETER_AXIS_TENSOR, o.tensor));
  }
  const Column& at(size_t part, const Column& c) const {
    return *parts_[part].saved.report.results.find(c.id);
  }

  /// The whole has the least certain provenance of its shards.
  void take_provenance(Column& c) {
    for (size_t p = 0; p < parts_.size(); ++p) {
      const auto& other = at(p, c);
      if (other.provenance <= c.provenance) continue;
      c.provenance = other.provenance;
      c.provenance_text = other.provenance_text + " (" + parts_[p].model_file() + ")";
    }
  }

  /// Drops values of operators, calls or the model: a shard's value is not one of the
  /// whole, and files with only weights lack them.
  void take_total(Column& c) {
    bool known = false, any = false;
    for (size_t p = 0; p < parts_.size(); ++p) {
      const auto total = at(p, c).cell(TMETER_AXIS_MODEL, 0);
      known = known || is_known(total);
      any = any || total.kind != TMETER_NUMBER_NONE;
    }
    if (any) c.cells[TMETER_AXIS_MODEL] = {number_of_kind(TMETER_NUMBER_UNAVAILABLE)};
    if (known) lost_.push_back(c.id);
  }

  void roll_up() {
    for (auto& c : results().columns) {
      if (c.axis != TMETER_AXIS_TENSOR || is_poolable(c)) continue;
      // A saved report does not state the weights of a mean.
      if (c.aggregation == TMETER_AGGREGATE_WEIGHTED_MEAN || c.aggregation == TMETER_AGGREGATE_NONE)
        mark_lost(c);
      else
        roll_up_tensors(*report_.graph, results(), c);
    }
    pool_statistics(*report_.graph, results());
  }

  /// Marks values of modules and the model that cannot be derived from those of tensors.
  void mark_lost(Column& c) {
    bool had = false;
    for (size_t p = 0; p < parts_.size(); ++p) {
      for (const auto axis : {TMETER_AXIS_MODULE, TMETER_AXIS_MODEL}) {
        const auto& cells = at(p, c).cells[static_cast<size_t>(axis)];
        for (size_t i = 0; i < cells.size(); ++i) {
          if (cells.kind(i) == TMETER_NUMBER_NONE) continue;
          had = true;
          const size_t index = axis == TMETER_AXIS_MODULE ? whole_.modules[p][i] : 0;
          auto& to = c.cells[static_cast<size_t>(axis)];
          to.resize(std::max(to.size(), index + 1));
          to.set(index, number_of_kind(TMETER_NUMBER_UNAVAILABLE));
        }
      }
    }
    if (had) lost_.push_back(c.id);
  }

  void move_target(size_t part, tmeter_target& t) const {
    if (t.axis == TMETER_AXIS_TENSOR) t.index = whole_.tensors[part][t.index];
    if (t.axis == TMETER_AXIS_MODULE) t.index = whole_.modules[part][t.index];
  }
  /// A hostile report may have operators and calls although weights have neither.
  static bool is_of_a_run(const tmeter_target& t) {
    return t.axis == TMETER_AXIS_NODE || t.axis == TMETER_AXIS_MODULE_CALL;
  }
  static bool is_of_tensor(const tmeter_target& t) { return t.axis == TMETER_AXIS_TENSOR; }

  /// Combines equal findings of shards. A finding with changes stays separate, because it states
  /// the savings of its own shard.
  void take_findings(size_t p) {
    auto& from = parts_[p].saved.report;
    for (auto& f : from.results.findings) {
      std::erase_if(f.targets, is_of_a_run);
      for (auto& t : f.targets) move_target(p, t);
      auto& all = results().findings;
      const auto own = f.changes.empty() ? std::string() : parts_[p].path;
      const auto [entry, is_new] = finding_places_.try_emplace(
          std::tuple(f.severity, f.rule, f.plugin, f.text, f.action, own), files_.size());
      if (is_new) {
        files_.emplace_back();
        all.push_back(std::move(f));
      } else {
        auto& first = all[entry->second];
        first.targets.insert(first.targets.end(), f.targets.begin(), f.targets.end());
        files_[entry->second].same_evidence &= first.evidence == f.evidence;
      }
      files_[entry->second].add(parts_[p].model_file());
    }
    for (auto& d : from.results.distributions) {
      if (!is_of_tensor(d.of)) continue;
      move_target(p, d.of);
      results().distributions.push_back(std::move(d));
    }
    for (auto& s : from.results.series) {
      if (!is_of_tensor(s.of)) {
        dropped_series_ = true;
        continue;
      }
      move_target(p, s.of);
      results().series.push_back(std::move(s));
    }
    for (const auto& w : from.warnings) {
      const auto [entry, is_new] = warning_places_.try_emplace(w, report_.warnings.size());
      if (is_new) report_.warnings.push_back(w), warning_files_.emplace_back();
      warning_files_[entry->second].add(parts_[p].model_file());
    }
  }

  /// The files with a finding or a warning: the name of one, the count of several.
  struct Files {
    std::string first, last;
    size_t count = 0;
    bool same_evidence = true;
    void add(const std::string& file) {
      if (count == 0) first = file;
      if (count == 0 || last != file) ++count;
      last = file;
    }
    std::string of() const {
      return count == 1 ? first + ": " : "in " + std::to_string(count) + " files: ";
    }
  };

  void name_files() {
    for (size_t i = 0; i < files_.size(); ++i) {
      auto& f = results().findings[i];
      f.text = files_[i].of() + f.text;
      if (!files_[i].same_evidence) f.evidence = files_[i].first + ": " + f.evidence;
    }
    for (size_t i = 0; i < warning_files_.size(); ++i)
      report_.warnings[i] = warning_files_[i].of() + report_.warnings[i];
  }

  std::string names(const std::vector<std::string>& ids) const {
    std::string text;
    for (size_t i = 0; i < ids.size() && i < kNamed; ++i) text += (i ? ", " : "") + ids[i];
    return ids.size() > kNamed ? text + " and " + std::to_string(ids.size() - kNamed) + " more"
                               : text;
  }

  void add_summary() {
    Finding f;
    f.rule = "merged";
    f.plugin = "tmeter";
    f.text = "merged from the reports of " + std::to_string(parts_.size()) + " files";
    const bool pooled =
        std::any_of(results().columns.begin(), results().columns.end(), is_poolable);
    f.evidence = "sums, counts, smallest and largest values are those of one run over all of them";
    if (pooled)
      f.evidence +=
          "; means, deviations, moments and norms of modules and of the whole differ from it in "
          "the last digits; coded_bytes there is rounded up tensor by tensor, so at most " +
          std::to_string(whole_.graph->tensors().size()) + " bytes above";
    f.evidence += "; findings and warnings are about the files they name";
    if (!lost_.empty() || dropped_series_) {
      f.evidence += "; not merged: ";
      f.evidence += lost_.empty() ? "curves of modules and of the whole"
                                  : names(lost_) + " of modules and of the whole";
      f.action = "for these, analyse the whole checkpoint in one run, by its index file";
    }
    results().findings.push_back(std::move(f));
    most_severe_first(results().findings);
  }

  void describe() {
    auto& p = report_.properties;
    p["tool.version"] = TMETER_VERSION;
    p["model.file"] = name();
    int64_t size = 0;
    double seconds = 0;
    bool sized = true, timed = true;
    for (const auto& part : parts_) {
      const auto& from = part.saved.report.properties;
      const auto bytes = from.find("model.size"), time = from.find("analysis.seconds");
      sized = sized && bytes != from.end();
      timed = timed && time != from.end();
      if (sized) size += std::strtoll(bytes->second.c_str(), nullptr, 10);
      if (timed) seconds += std::strtod(time->second.c_str(), nullptr);
    }
    if (sized) p["model.size"] = std::to_string(size);
    if (timed) p["analysis.seconds"] = std::to_string(seconds);
    report_.config = first().config;
    if (const auto machine = common_hardware(); !machine.empty()) p["hardware"] = machine;
    std::set<std::pair<std::string, std::string>> added;
    for (const auto& part : parts_)
      for (const auto& plugin : part.saved.report.plugins)
        if (added.insert(plugin).second) report_.plugins.push_back(plugin);
  }

  /// The hardware profile of all shards; empty if they differ.
  std::string common_hardware() const {
    std::string machine;
    for (const auto& part : parts_) {
      const auto& p = part.saved.report.properties;
      const auto it = p.find("hardware");
      if (it == p.end()) continue;
      if (!machine.empty() && machine != it->second) return {};
      machine = it->second;
    }
    return machine;
  }

  std::string name() const {
    size_t number = 0, of = 0;
    const auto file = parts_.front().model_file();
    const auto whole = unnumbered(file, number, of);
    if (!whole.empty()) return whole;
    return parts_.size() == 1 ? file : file + " and " + std::to_string(parts_.size() - 1) + " more";
  }

  std::vector<Part> parts_;
  UnionGraph whole_;
  Report report_;
  std::vector<std::string> lost_;  // metrics
  bool dropped_series_ = false;
  /// Content of a finding → its place among the findings.
  std::map<std::tuple<int32_t, std::string, std::string, std::string, std::string, std::string>,
           size_t>
      finding_places_;
  std::map<std::string, size_t> warning_places_;
  std::vector<Files> files_, warning_files_;  // number of findings, of warnings
};

}  // namespace

std::string Part::model_file() const {
  const auto& p = saved.report.properties;
  const auto it = p.find("model.file");
  return it == p.end() ? path : it->second;
}

SavedReport merge_shards(std::vector<Part> parts) { return Merge(std::move(parts)).run(); }

}  // namespace tmeter::core
