// A value of the elements of every tensor. tmeter streams them; several threads may each process a
// part of a tensor.
#include <algorithm>
#include <cmath>
#include <tmeter/cpp/plugin.hpp>

namespace {

struct Largest final : tmeter::TensorAnalysis {
  void chunk(const tmeter::Chunk& c, tmeter::Call&) override {
    for (const float v : c.as<float>()) largest = std::max(largest, std::fabs(v));
  }
  void merge(tmeter::TensorAnalysis& other) override {
    largest = std::max(largest, static_cast<Largest&>(other).largest);
  }
  void emit(const tmeter::Tensor& t, tmeter::Call& call) override {
    call.emit("@name@", TMETER_AXIS_TENSOR, t.index(), tmeter::Cell(double{largest}));
  }
  float largest = 0;
};

bool wants(const tmeter::Tensor& t, tmeter::Call&) {
  return t.dtype().id() == TMETER_DTYPE_FLOAT32;
}

}  // namespace

TMETER_PLUGIN("com.example.@name@", "1.0.0", [](tmeter::Registrar& r) {
  r.metric({.id = "@name@",
            .title = "largest",
            .unit = "",
            .unit_kind = TMETER_UNIT_OTHER,
            .axis = TMETER_AXIS_TENSOR,
            .aggregation = TMETER_AGGREGATE_MAX,
            .convention = "max |w|, float32 tensors",
            .description = "the largest absolute value"});
  r.tensor_analysis("@name@", "@name@", wants, [](const tmeter::TensorPart&, tmeter::Call&) {
    return std::make_unique<Largest>();
  });
});
