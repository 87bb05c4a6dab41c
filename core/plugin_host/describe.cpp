#include "core/plugin_host/describe.hpp"

#include <tmeter/cpp/text_hash.hpp>
#include <unordered_set>

#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

LoaderManifest describe_loader(const tmeter_loader& l) {
  LoaderManifest m{str(l.name), str(l.title), {}};
  for (uint32_t i = 0; i < l.match_count; ++i)
    m.matches.push_back({str(l.matches[i].conditions), l.matches[i].score});
  return m;
}

/// Operators and types handled for other plugins' metrics, each once.
class Handled {
 public:
  explicit Handled(Manifest& m) : list_(m.handles), own_(m.metrics.begin(), m.metrics.end()) {}
  void add(const std::string& metric, const std::string& what) {
    if (what != "*" && !own_.contains(metric) && known_.insert(what).second) list_.push_back(what);
  }

 private:
  std::vector<std::string>& list_;
  std::unordered_set<std::string, TextHash> own_, known_;
};

void describe_handlers(const PluginCapabilities& offers, Manifest& m) {
  Handled handled(m);
  for (const auto& h : offers.op_handlers) {
    const auto op = str(h.op);
    handled.add(str(h.metric), op.substr(0, op.find('.')));
  }
  for (const auto& c : offers.op_classes) {
    const auto op = str(c.op);
    handled.add({}, op.substr(0, op.find('.')));
  }
  for (const auto& r : offers.backward_rules) {
    const auto op = str(r.op);
    handled.add({}, op.substr(0, op.find('.')));
  }
  for (const auto& h : offers.module_handlers) handled.add(str(h.metric), str(h.type));
}

}  // namespace

Manifest describe(const PluginInstance& plugin, const PluginCapabilities& offers) {
  Manifest m;
  const auto& info = plugin.info();
  m.id = str(info.id);
  m.name = str(info.name);
  m.version = str(info.version);
  m.description = str(info.description);
  m.needs = split(str(info.needs), " ");
  m.rights = str(info.rights);
  m.abi_minor = plugin.entry().abi_minor_required;
  for (const auto& x : offers.metrics) m.metrics.push_back(str(x.id));
  describe_handlers(offers, m);
  for (const auto& x : offers.shape_rules) m.shape_rules.push_back(str(x.schema));
  for (const auto& x : offers.options) m.options.push_back(str(x.key));
  for (const auto& x : offers.option_tables) m.options.push_back(str(x.key));
  for (const auto& x : offers.loaders) m.loaders.push_back(describe_loader(x));
  for (const auto& x : offers.decoders) {
    for (auto& id : split(view(x.encodings), " ")) m.decoders.push_back(std::move(id));
  }
  for (const auto& x : offers.propagators) m.propagators.push_back(str(x.name));
  for (const auto& x : offers.executors) m.executors.push_back(str(x.name));
  for (const auto& x : offers.observers) {
    for (auto& id : split(str(x.produced), " ")) m.measured.push_back(std::move(id));
  }
  for (const auto& x : offers.writers)
    m.writers.push_back({str(x.name), str(x.extension), str(x.media_type)});
  return m;
}

}  // namespace tmeter::core
