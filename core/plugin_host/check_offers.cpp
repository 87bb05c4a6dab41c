#include "core/plugin_host/check_offers.hpp"

#include <algorithm>
#include <memory_resource>
#include <unordered_set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz", kDigits = "0123456789";

/// The items of one table, one after the other.
class Check {
 public:
  Check(const StartedPlugin& plugin, std::string_view kind) : plugin_(plugin.id()), kind_(kind) {}

  void name(std::string_view name) { name_ = name; }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::kPlugin, "plugin " + std::string(plugin_) + ": " + std::string(kind_) +
                                        " '" + printable(name_) + "' " + why);
  }
  void has(bool callback, const char* what) const {
    if (!callback) refuse(std::string("has no `") + what + "`");
  }
  void within(int32_t value, int32_t last, const char* what) const {
    if (value < 0 || value > last)
      refuse(std::string("has an unknown ") + what + ", " + std::to_string(value));
  }
  void only_one(std::string_view what, std::string_view metric = {}, int32_t priority = 0) {
    if (!seen_.insert({what, metric, priority}).second) refuse("is there twice");
  }
  /// A word that users type and programs read, there once.
  void named(tmeter_str text, std::string_view allowed) {
    name(view(text));
    word(allowed);
    only_one(view(text));
  }
  void word(std::string_view allowed) const {
    if (name_.empty()) refuse("has no name");
    if (name_.find_first_not_of(allowed) != name_.npos)
      refuse("has a name with other characters than " + std::string(allowed));
  }
  /// What reports and terminals show: one line without control characters.
  void lines(std::initializer_list<tmeter_str> texts) const {
    for (const auto& text : texts) {
      if (visible(view(text), view(text).size()) != view(text))
        refuse("has a text with control characters or broken UTF-8: " + printable(view(text), 60));
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
      const std::hash<std::string_view> hash;
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

void check_info(const StartedPlugin& plugin) {
  const auto& info = plugin.info();
  Check check(plugin, "id");
  const auto letters = words_of(".-_ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  for (const auto text : {info.id, info.name}) check.name(view(text)), check.word(letters);
  check.lines({info.version, info.description, info.needs, info.rights});
}

void check_metrics(const StartedPlugin& plugin, const Offers& o) {
  Check check(plugin, "metric");
  const auto letters = words_of("_");
  for (const auto& m : o.metrics) {
    check.named(m.id, letters);
    check.within(m.axis, TMETER_AXIS_MODEL, "axis");
    check.within(m.aggregation, TMETER_AGGREGATE_NONE, "aggregation");
    if (m.convention.len == 0) check.refuse("lacks its mandatory convention text");
    check.lines({m.title, m.unit, m.convention, m.description});
  }
}

void check_options(const StartedPlugin& plugin, const Offers& o) {
  Check check(plugin, "option");
  const auto letters = words_of("_-");
  for (const auto& x : o.options) {
    check.named(x.key, letters);
    check.within(x.type, TMETER_OPTION_CHOICE, "type");
    check.lines({x.default_value, x.choices, x.text});
  }
}

/// Their keys are paths; names that users give take the place of "*".
void check_option_tables(const StartedPlugin& plugin, const Offers& o) {
  Check check(plugin, "option");
  const auto letters = words_of("_-.*");
  for (const auto& x : o.option_tables) {
    check.named(x.key, letters);
    check.within(x.type, TMETER_OPTION_CHOICE, "type");
    check.lines({x.default_value, x.choices, x.text});
  }
}

void check_handlers(const StartedPlugin& plugin, const Offers& o) {
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

/// What an analysis produces must be its plugin's own: the host waits for it otherwise.
void require_own(const Check& check, const Offers& o, tmeter_str produced) {
  for (const auto& id : split(view(produced), " ")) {
    const bool own = std::any_of(o.metrics.begin(), o.metrics.end(),
                                 [&](const auto& m) { return view(m.id) == id; });
    if (!own) check.refuse("produces metric '" + id + "', which the plugin does not declare");
  }
}

void check_analyses(const StartedPlugin& plugin, const Offers& o) {
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

void check_models(const StartedPlugin& plugin, const Offers& o) {
  Check rules(plugin, "shape rule");
  for (const auto& r : o.shape_rules) {
    rules.name(view(r.schema));
    rules.has(r.infer, "infer");
    const auto schema = view(r.schema);
    const auto open = schema.find('('), space = schema.find(' '), arrow = schema.find("->");
    if (schema.find("::") >= open || space <= open || arrow == schema.npos)
      rules.refuse("is no schema, such as acme::mlp(Tensor x, Tensor w) -> Tensor");
    rules.only_one(view(r.schema));
  }
  Check loaders(plugin, "loader");
  for (const auto& l : o.loaders) {
    loaders.name(view(l.name));
    loaders.has(l.load, "load");
    loaders.has(l.match_count == 0 || l.matches, "matches");
    loaders.only_one(view(l.name));
    loaders.lines({l.name, l.title, l.engine});
  }
  Check propagators(plugin, "propagator");
  for (const auto& p : o.propagators) {
    propagators.name(view(p.name));
    propagators.has(p.propagate, "propagate");
    propagators.lines({p.name});
  }
}

void check_runs(const StartedPlugin& plugin, const Offers& o) {
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

void check_writers(const StartedPlugin& plugin, const Offers& o) {
  Check check(plugin, "report writer");
  const auto letters = words_of("-_");
  for (const auto& w : o.writers) {
    check.named(w.name, letters);
    check.has(w.write, "write");
    check.lines({w.extension, w.media_type});
  }
}

}  // namespace

void check_offers(const StartedPlugin& plugin, const Offers& offers) {
  check_info(plugin);
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
