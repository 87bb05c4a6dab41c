// A third-party loader and analysis that take long and report progress, in a unit that contains a
// terminal escape sequence.
#include <chrono>
#include <thread>
#include <tmeter/cpp/plugin.hpp>

namespace {

void take_time(tmeter::Call& call, std::string_view unit) {
  for (uint64_t i = 0; i <= 20; ++i) {
    call.progress(i, 20, unit);
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
  }
}

}  // namespace

TMETER_PLUGIN("com.stranger.slow", "1.0.0", [](tmeter::Registrar& r) {
  r.metric({.id = "patience",
            .title = "patience",
            .axis = TMETER_AXIS_MODEL,
            .convention = "how often it was waited"});
  r.analysis("wait", "", "patience",
             [](const tmeter::Graph&, tmeter::Call& call) { take_time(call, "naps\x1b[31m"); });
})
