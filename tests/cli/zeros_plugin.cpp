// A third-party analysis of the elements of tensors: how many are zero. For the tests of streaming
// it can also, at its first chunk, do what a user or another program may do meanwhile: press
// Ctrl-C, truncate the file, or fail itself.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <tmeter/cpp/plugin.hpp>

namespace {

void meanwhile() {
  const char* what = std::getenv("ZEROS_MEANWHILE");
  const std::string_view event = what ? what : "";
  static std::atomic<bool> first{true};
  if (event == "interrupt" && first.exchange(false)) kill(getpid(), SIGINT);
  if (event == "fail") throw tmeter::Error("the plugin has had enough");
  if (event == "slow") usleep(100'000);
  if (event.starts_with("cut ") && truncate(what + 4, 4096) != 0) std::abort();
}

struct Zeros final : tmeter::TensorAnalysis {
  void chunk(const tmeter::Chunk& c, tmeter::Call&) override {
    meanwhile();
    for (const float v : c.as<float>()) zeros += v == 0;
  }
  void merge(tmeter::TensorAnalysis& other) override { zeros += static_cast<Zeros&>(other).zeros; }
  void emit(const tmeter::Tensor& t, tmeter::Call& call) override {
    call.emit("zeros", TMETER_AXIS_TENSOR, t.index(), tmeter::Count(zeros));
  }
  int64_t zeros = 0;
};

}  // namespace

TMETER_PLUGIN("com.acme.zeros", "1.0.0", [](tmeter::Registrar& r) {
  r.metric({.id = "zeros",
            .title = "zeros",
            .axis = TMETER_AXIS_TENSOR,
            .flags = TMETER_METRIC_TENSORS,
            .convention = "elements equal to zero"});
  r.tensor_analysis(
      "zeros", "zeros",
      [](const tmeter::Tensor& t, tmeter::Call&) { return t.dtype().name() == "float32"; },
      [](const tmeter::TensorPart&, tmeter::Call&) { return std::make_unique<Zeros>(); });
});
