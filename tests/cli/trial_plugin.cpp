// A third-party analysis that requests values under other sizes and options. TRIAL lists them as
// "SYMBOL=VALUE" (SYMBOL is an index) and "PLUGIN.OPTION=VALUE".
#include <cstdlib>
#include <sstream>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <tmeter/cpp/trials.hpp>

namespace {

void try_it(const tmeter::Graph&, tmeter::Call& call) {
  const std::string metric = std::getenv("TRIAL_METRIC");
  std::vector<tmeter_trial_size> sizes;
  std::vector<std::pair<std::string, std::string>> texts;
  std::istringstream words(std::getenv("TRIAL"));
  for (std::string word; words >> word;) {
    const auto at = word.find('=');
    const auto name = word.substr(0, at), value = word.substr(at + 1);
    if (name.find('.') == name.npos)
      sizes.push_back({std::stoul(name), std::stoll(value)});
    else
      texts.emplace_back(name, value);
  }
  std::vector<tmeter_trial_option> options;
  for (const auto& [name, value] : texts)
    options.push_back({tmeter::to_abi(name), tmeter::to_abi(value)});
  const auto tried = tmeter::try_figure(call, metric, sizes, options);
  const auto emit = [&call](std::string_view id, tmeter::Cell cell) {
    call.emit(id, TMETER_AXIS_MODEL, 0, cell);
  };
  emit("trial", tried ? *tried : tmeter::Cell::unavailable());
  emit("trial_own", call.read("flops", TMETER_AXIS_MODEL, 0));
  call.info("flops.convention is " + std::string(call.option_text("flops.convention")));
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "com.stranger.trial", .version = "1.0.0", .needs = "flops"}),
                   [](tmeter::Registrar& r) {
                     for (const auto id : {"trial", "trial_own"})
                       r.metric({.id = id,
                                 .title = id,
                                 .axis = TMETER_AXIS_MODEL,
                                 .aggregation = TMETER_AGGREGATE_NONE,
                                 .convention = "as another metric says"});
                     r.analysis("trial", "", "trial trial_own", try_it);
                   })
