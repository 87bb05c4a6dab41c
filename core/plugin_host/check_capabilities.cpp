#include <algorithm>
#include <memory_resource>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/options.hpp"
#include "core/plugin_host/plugin_capabilities.hpp"
#include "core/plugin_host/plugin_limits.hpp"
#include "core/process/sandbox.hpp"

namespace tmeter::core {
namespace {

constexpr int32_t kMinScore = 1, kMaxScore = 100;
constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz", kDigits = "0123456789";

/// The items of one table, in order.
class Check {
 public:
  Check(const PluginInstance& plugin, std::string_view kind) : plugin_(plugin.id()), kind_(kind) {}

  void name(std::string_view name) { name_ = name; }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::kPlugin, "plugin " + std::string(plugin_) + ": " + std::string(kind_) +
                                        " '" + printable(name_) + "' " + why);
  }
  void has(bool callback, const char* what) const {
    if (!callback) refuse(std::string("has no `") + what + "`");
  }
  /// "metric 'm' has an unknown axis, 99" for a note; empty when it is known.
  std::string unknown(int32_t value, int32_t last, const char* what) const {
    if (value >= 0 && value <= last) return {};
    return std::string(kind_) + " '" + printable(name_) + "' has an unknown " + what + ", " +
           std::to_string(value) + ": ";
  }
  void only_one(std::string_view what, std::string_view metric = {}, int32_t priority = 0) {
    if (!seen_.insert({what, metric, priority}).second) refuse("occurs twice");
  }
  /// Checks a unique word that users type and programs read.
  void named(tmeter_str text, std::string_view allowed) {
    name(view(text));
    word(allowed);
    only_one(view(text));
  }
  void word(std::string_view allowed) const {
    if (name_.empty()) refuse("has no name");
    if (name_.size() > plugin_limits::kTitleBytes) refuse("has a name of more than 1,000 bytes");
    if (name_.find_first_not_of(allowed) != name_.npos)
      refuse("has a name with other characters than " + std::string(allowed));
  }
  /// Checks a text for reports and terminals: one line without control characters.
  void lines(std::initializer_list<tmeter_str> texts) const {
    for (const auto& text : texts) {
      if (view(text).size() > plugin_limits::kTextBytes)
        refuse("has a string of more than 8,192 bytes, beginning with " +
               printable(view(text), 60));
      if (visible(view(text), view(text).size()) != view(text))
        refuse("has a string with control characters or broken UTF-8: " +
               printable(view(text), 60));
    }
  }

 private:
  struct Item {
    std::string_view what, metric;
    int32_t priority;
    bool operator==(const Item&) const = default;
  };
  struct ItemHash {
    size_t operator()(const Item& i) const {
      const TextHash hash;
      return (hash(i.what) * 31 + hash(i.metric)) * 31 + static_cast<size_t>(i.priority);
    }
  };
  std::string_view plugin_, kind_, name_;
  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::unordered_set<Item, ItemHash> seen_{&memory_};
};

std::string words_of(std::string_view more) {
  return std::string(kLower) + std::string(kDigits) + std::string(more);
}

/// Notes unknown optional rights. Unknown mandatory rights are refused before the plugin runs
/// (core/process/sandbox.hpp).
void note_rights(const PluginInstance& plugin, PluginCapabilities& o) {
  for (const auto& right : split(view(plugin.info().rights), " ")) {
    Rights unused;
    const auto name = std::string_view(right).substr(0, right.size() - 1);
    if (right.ends_with('?') && !add_rights(unused, name))
      o.notes.push_back("the right '" + printable(name) + "' is unknown: it does without");
  }
}

void check_info(const PluginInstance& plugin) {
  const auto& info = plugin.info();
  Check check(plugin, "id");
  const auto letters = words_of(".-_ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  for (const auto text : {info.id, info.name}) check.name(view(text)), check.word(letters);
  check.lines({info.version, info.description, info.needs, info.rights});
}

bool is_in(const std::vector<std::string>& list, tmeter_str id) {
  return std::find(list.begin(), list.end(), view(id)) != list.end();
}

/// Handlers of an omitted metric are omitted with it.
void leave_out_handlers(PluginCapabilities& o) {
  if (o.left_out.empty()) return;
  const auto is_of_one = [&](const auto& h) { return is_in(o.left_out, h.metric); };
  std::erase_if(o.op_handlers, is_of_one);
  std::erase_if(o.module_handlers, is_of_one);
}

void check_metrics(const PluginInstance& plugin, PluginCapabilities& o) {
  Check check(plugin, "metric");
  const auto letters = words_of("_");
  for (auto& m : o.metrics) {
    check.named(m.id, letters);
    if (m.convention.len == 0) check.refuse("lacks its mandatory convention text");
    check.lines({m.title, m.unit, m.convention, m.description});
    if (const auto axis = check.unknown(m.axis, TMETER_AXIS_MODEL, "axis"); !axis.empty()) {
      o.left_out.push_back(str(m.id));
      o.notes.push_back(axis + "the metric is left out");
      continue;
    }
    const auto how = check.unknown(m.aggregation, TMETER_AGGREGATE_NONE, "aggregation");
    if (how.empty()) continue;
    m.aggregation = TMETER_AGGREGATE_NONE;
    o.notes.push_back(how + "modules and the model have no value for it");
  }
  std::erase_if(o.metrics, [&](const auto& m) { return is_in(o.left_out, m.id); });
  leave_out_handlers(o);
}

/// Options of unknown type are treated as texts.
void check_option(Check& check, std::string_view letters, tmeter_option_desc& x,
                  PluginCapabilities& o) {
  check.named(x.key, letters);
  check.lines({x.default_value, x.choices, x.text});
  const auto type = check.unknown(x.type, TMETER_OPTION_CHOICE, "type");
  if (type.empty()) return;
  x.type = TMETER_OPTION_TEXT;
  o.notes.push_back(type + "it is taken as a text");
}

void check_options(const PluginInstance& plugin, PluginCapabilities& o) {
  Check check(plugin, "option");
  for (auto& x : o.options) {
    check_option(check, words_of("_-"), x, o);
    if (const auto why = problem_of_default(x); !why.empty())
      check.refuse("has a default that it does not accept, '" + printable(view(x.default_value)) +
                   "': " + why);
  }
}

/// Checks keys, which are paths; names given by users replace "*".
void check_option_tables(const PluginInstance& plugin, PluginCapabilities& o) {
  Check check(plugin, "option");
  for (auto& x : o.option_tables) check_option(check, words_of("_-.*"), x, o);
}

void check_handlers(const PluginInstance& plugin, const PluginCapabilities& o) {
  Check check(plugin, "handler of");
  for (const auto& h : o.op_handlers) {
    check.name(view(h.op));
    if (h.op.len == 0 || h.metric.len == 0) check.refuse("lacks its operator or its metric");
    check.only_one(view(h.op), view(h.metric), h.priority);
    check.has((h.flags & TMETER_HANDLER_ZERO_BY_RULE) || h.eval, "eval");
  }
  Check classes(plugin, "class of operator");
  for (const auto& c : o.op_classes) {
    classes.name(view(c.op));
    if (c.op.len == 0 || c.name.len == 0) classes.refuse("lacks its operator or its class");
    classes.only_one(view(c.op));
    classes.lines({c.name});
  }
  Check rules(plugin, "backward rule of");
  for (const auto& r : o.backward_rules) {
    rules.name(view(r.op));
    if (r.op.len == 0) rules.refuse("lacks its operator");
    rules.only_one(view(r.op));
    rules.has(r.work, "work");
  }
  Check modules(plugin, "handler of module type");
  for (const auto& h : o.module_handlers) {
    modules.name(view(h.type));
    if (h.type.len == 0 || h.metric.len == 0) modules.refuse("lacks its type or its metric");
    modules.only_one(view(h.type), view(h.metric), h.priority);
    modules.has(h.eval, "eval");
    const auto followed = split(view(h.follows), " ");
    if (std::find(followed.begin(), followed.end(), view(h.metric)) != followed.end())
      modules.refuse("follows its own metric, '" + str(h.metric) + "'");
  }
}

/// An analysis may only produce metrics of its own plugin; other metrics would never be complete.
void require_own(const Check& check, const PluginCapabilities& o, tmeter_str produced) {
  if (produced.len > plugin_limits::kListBytes) check.refuse("produces more than 1 MiB of names");
  std::unordered_set<std::string_view, TextHash> own(o.left_out.begin(), o.left_out.end());
  for (const auto& m : o.metrics) own.insert(view(m.id));
  for (const auto& id : split(view(produced), " ")) {
    if (!own.contains(id))
      check.refuse("produces metric '" + id + "', which the plugin does not declare");
  }
}

void check_analyses(const PluginInstance& plugin, const PluginCapabilities& o) {
  Check check(plugin, "analysis");
  for (const auto& a : o.analyses) {
    check.name(view(a.name));
    check.has(a.run, "run");
    check.lines({a.name});
    require_own(check, o, a.produced);
  }
  Check streamed(plugin, "tensor analysis");
  for (const auto& a : o.tensor_analyses) {
    streamed.name(view(a.name));
    streamed.has(a.begin, "begin"), streamed.has(a.chunk, "chunk"), streamed.has(a.merge, "merge");
    streamed.has(a.end, "end"), streamed.has(a.emit, "emit"), streamed.has(a.release, "release");
    streamed.lines({a.name});
    require_own(streamed, o, a.produced);
  }
}

void check_matches(const Check& check, const tmeter_loader& l) {
  if (l.match_count > plugin_limits::kMatches) check.refuse("has more than 1,000 matches");
  for (uint32_t i = 0; i < l.match_count; ++i) {
    const auto& m = l.matches[i];
    check.lines({m.conditions});
    if (m.score < kMinScore || m.score > kMaxScore)
      check.refuse("has a match with a score of " + std::to_string(m.score) +
                   "; scores are 1 to 100");
    if (m.reserved != 0) check.refuse("has a match that" + std::string(kReservedSet));
  }
}

void check_models(const PluginInstance& plugin, const PluginCapabilities& o) {
  Check rules(plugin, "shape rule");
  for (const auto& r : o.shape_rules) {
    rules.name(view(r.schema));
    rules.has(r.infer, "infer");
    const auto schema = view(r.schema);
    const auto open = schema.find('('), space = schema.find(' '), arrow = schema.find("->");
    if (schema.find("::") >= open || space <= open || arrow == schema.npos)
      rules.refuse("is not a schema, such as acme::mlp(Tensor x, Tensor w) -> Tensor");
    rules.only_one(view(r.schema));
  }
  Check loaders(plugin, "loader");
  for (const auto& l : o.loaders) {
    loaders.name(view(l.name));
    loaders.has(l.load, "load");
    loaders.has(l.match_count == 0 || l.matches, "matches");
    check_matches(loaders, l);
    loaders.only_one(view(l.name));
    loaders.lines({l.name, l.title, l.engine});
  }
  Check decoders(plugin, "decoder of");
  for (const auto& d : o.decoders) {
    decoders.name(view(d.encodings));
    decoders.has(d.open, "open"), decoders.has(d.decode, "decode"), decoders.has(d.close, "close");
    if (d.encodings.len > plugin_limits::kListBytes)
      decoders.refuse("has more than 1 MiB of names");
    const auto ids = split(view(d.encodings), " ");
    if (ids.empty()) decoders.refuse("has no encoding");
    for (const auto& id : ids) decoders.name(id), decoders.word(words_of("._-"));
  }
  Check propagators(plugin, "propagator");
  for (const auto& p : o.propagators) {
    propagators.name(view(p.name));
    propagators.has(p.propagate, "propagate");
    propagators.lines({p.name});
  }
}

void check_runs(const PluginInstance& plugin, const PluginCapabilities& o) {
  Check executors(plugin, "executor");
  for (const auto& e : o.executors) {
    executors.name(view(e.name));
    executors.has(e.prepare, "prepare"), executors.has(e.run, "run");
    executors.has(e.release, "release");
    executors.lines({e.name});
  }
  Check observers(plugin, "observer");
  for (const auto& x : o.observers) {
    observers.name(view(x.name));
    observers.has(x.begin, "begin"), observers.has(x.event, "event"), observers.has(x.end, "end");
    observers.lines({x.name});
    require_own(observers, o, x.produced);
  }
}

void check_writers(const PluginInstance& plugin, const PluginCapabilities& o) {
  Check check(plugin, "report writer");
  const auto letters = words_of("-_");
  for (const auto& w : o.writers) {
    check.named(w.name, letters);
    check.has(w.write, "write");
    check.lines({w.extension, w.media_type});
  }
}

}  // namespace

void check_capabilities(const PluginInstance& plugin, PluginCapabilities& offers) {
  check_info(plugin);
  note_rights(plugin, offers);
  check_metrics(plugin, offers);
  check_options(plugin, offers);
  check_option_tables(plugin, offers);
  check_handlers(plugin, offers);
  check_analyses(plugin, offers);
  check_models(plugin, offers);
  check_runs(plugin, offers);
  check_writers(plugin, offers);
}

}  // namespace tmeter::core
