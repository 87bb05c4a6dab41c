// An executor that uses a known energy. Operator i takes (i + 1) · 10 ms of a made-up clock, (i +
// 1) J of package 0, and half of that of its memory; it adds the joules to the powercap files below
// the folder TMETER_FURNACE. On request it also uses 2 (i + 1) J of the GPU of stub_nvml. The
// executor never waits, so the test takes no time.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tmeter/cpp/executor.hpp>

namespace {

using tmeter::Graph;

constexpr uint64_t kRange = 262'143'328'850;  // µJ

std::string wrong() {
  const char* what = std::getenv("TMETER_FURNACE_WRONG");
  return what ? what : "";
}

std::string file_of(const char* zone) {
  return std::string(std::getenv("TMETER_FURNACE")) + "/sys/class/powercap/" + zone + "/energy_uj";
}

void burn(const char* zone, uint64_t microjoules) {
  const auto path = file_of(zone);
  uint64_t value = 0;
  if (!(std::ifstream(path) >> value)) return;
  // Renamed into place, as the kernel's files change atomically: the sampler reads them meanwhile.
  std::ofstream(path + ".new") << (value + microjoules) % kRange << "\n";
  std::filesystem::rename(path + ".new", path);
}

/// The stub reads its counter from a file.
void burn_gpu(uint64_t millijoules) {
  const std::string path = std::getenv("STUB_NVML_ENERGY");
  uint64_t sum = 0;
  if (!(std::ifstream(path) >> sum)) return;
  std::ofstream(path + ".new") << sum + millijoules << "\n";
  std::filesystem::rename(path + ".new", path);
}

class Furnace final : public tmeter::Execution {
 public:
  explicit Furnace(const Graph& graph) : graph_(graph) {}

  void run(int32_t run, int32_t, tmeter::ExecutorCall& call) override {
    ++runs_;
    if (runs_ == 6 && wrong() == "vanish") std::filesystem::remove(file_of("intel-rapl:0"));
    if (runs_ == 6 && wrong() == "garbage") std::ofstream(file_of("intel-rapl:0")) << "soon\n";
    tell(TMETER_EVENT_RUN_BEGIN, nullptr, 0, call);
    const auto begun = now_;
    for (const auto node : graph_.nodes()) {
      const auto weight = node.index() + 1;
      if (run == TMETER_RUN_OPERATORS) tell(TMETER_EVENT_OP_BEGIN, node.handle(), 0, call);
      const auto since = now_;
      now_ += weight * 10'000'000;
      if (wrong() != "still") {
        burn("intel-rapl:0", weight * 1'000'000);
        burn("intel-rapl:0:0", weight * 500'000);
      }
      if (wrong() == "gpu") burn_gpu(weight * 2000);
      if (run == TMETER_RUN_OPERATORS) tell(TMETER_EVENT_OP_END, node.handle(), since, call);
    }
    tell(TMETER_EVENT_RUN_END, nullptr, begun, call);
  }

 private:
  static void tell(int32_t kind, const tmeter_node* node, uint64_t since,
                   tmeter::ExecutorCall& call) {
    tmeter_event e{};
    e.struct_size = sizeof e;
    e.kind = kind;
    e.nanoseconds = now_;
    e.since = since;
    e.node = node;
    call.event(e);
  }

  Graph graph_;
  int runs_ = 0;
  static inline uint64_t now_ = 1'000'000'000;
};

std::unique_ptr<tmeter::Execution> prepare(const Graph& graph, const tmeter_run_request&,
                                           tmeter::ExecutorCall& call) {
  call.fact("engine", "furnace");
  return std::make_unique<Furnace>(graph);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "com.acme.furnace",
                                       .version = "1.0.0",
                                       .description = "Burns what the test knows",
                                       .rights = "files"}),
                   [](tmeter::Registrar& r) { tmeter::executor<prepare>(r, "furnace"); })
