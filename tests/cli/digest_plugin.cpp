// A digest of every tensor's bytes, by which a test checks that the correct bytes were read: the
// sum of (k + 1) × byte k over the elements in row-major order.
#include <tmeter/cpp/plugin.hpp>

namespace {

struct Digest final : tmeter::TensorAnalysis {
  void chunk(const tmeter::Chunk& c, tmeter::Call&) override {
    if (c.count() == 0) return;
    auto k = c.first() * static_cast<int64_t>(c.bytes().size() / static_cast<size_t>(c.count()));
    for (const auto byte : c.bytes()) sum += ++k * byte;
  }
  void merge(tmeter::TensorAnalysis& other) override { sum += static_cast<Digest&>(other).sum; }
  void emit(const tmeter::Tensor& t, tmeter::Call& call) override {
    call.emit("digest", TMETER_AXIS_TENSOR, t.index(), tmeter::Count(sum));
  }
  int64_t sum = 0;
};

}  // namespace

TMETER_PLUGIN("com.acme.digest", "1.0.0", [](tmeter::Registrar& r) {
  r.metric({.id = "digest",
            .title = "digest",
            .axis = TMETER_AXIS_TENSOR,
            .flags = TMETER_METRIC_TENSORS,
            .convention = "of a tensor's bytes"});
  r.tensor_analysis(
      "digest", "digest", [](const tmeter::Tensor&, tmeter::Call&) { return true; },
      [](const tmeter::TensorPart&, tmeter::Call&) { return std::make_unique<Digest>(); });
});
