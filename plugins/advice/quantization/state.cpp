#include "state.hpp"

#include <cmath>
#include <tmeter/cpp/numbers.hpp>

namespace quantization {
namespace {

using tmeter::Cell;

/// The results for a weight after all passes.
struct Outcome {
  Layout layout;
  Measurements measured;
  std::vector<Outlier> outputs, inputs;
};

class State : public tmeter::TensorAnalysis {
 public:
  explicit State(Collection& into) : into_(&into) {}
  void emit(const tmeter::Tensor& tensor, tmeter::Call& call) override {
    for (size_t i = 0; i < kSchemeCount; ++i)
      call.emit(metric_ids()[i], TMETER_AXIS_TENSOR, tensor.index(), cell(outcome.measured, i));
    Weight weight{std::string(tensor.name()), tensor.index(),         outcome.layout,
                  outcome.measured,           tensor.bytes().value(), {}};
    into_->push_back({std::move(weight), tensor, outcome.outputs, outcome.inputs});
  }

 protected:
  Outcome outcome;
  Collection* into_;

 private:
  /// Empty for a lossless scheme, whose SQNR is infinite.
  static Cell cell(const Measurements& m, size_t scheme) {
    const double v = m.sqnr[scheme];
    if (std::isinf(v)) return Cell();
    return std::isnan(v) ? Cell::unavailable() : Cell(v);
  }
};

class FirstPassState final : public State {
 public:
  FirstPassState(const Layout& layout, int64_t first, double ratio, Collection& into)
      : State(into), pass_(layout, first), ratio_(ratio) {}
  void chunk(const tmeter::Chunk& c, tmeter::Call&) override { pass_.add(c.first(), c.bytes()); }
  void merge(tmeter::TensorAnalysis& other) override {
    pass_.merge(static_cast<FirstPassState&>(other).pass_);
  }
  bool end(const tmeter::TensorPart&, tmeter::Call&) override {
    pass_.finish();
    const auto& layout = pass_.layout();
    outcome.layout = layout;
    outcome.measured = measurements_of(pass_, pass_.sums());
    if (!outcome.measured.finite || outcome.measured.zero) return false;
    outcome.outputs = outliers_in(outputs(), ratio_);
    outcome.inputs = outliers_in(inputs(), ratio_);
    return true;
  }

  const FirstPass& pass() const { return pass_; }
  const Outcome& so_far() const { return outcome; }

 private:
  const std::vector<float>& outputs() const {
    return pass_.layout().channel_axis == 0 ? pass_.rows() : pass_.columns();
  }
  const std::vector<float>& inputs() const {
    return pass_.layout().channel_axis == 0 ? pass_.columns() : pass_.rows();
  }

  FirstPass pass_;
  double ratio_;
};

class SecondPassState final : public State {
 public:
  SecondPassState(const FirstPassState& first, Collection& into)
      : State(into), pass_(first.pass()) {}
  void chunk(const tmeter::Chunk& c, tmeter::Call&) override { pass_.add(c.first(), c.bytes()); }
  void merge(tmeter::TensorAnalysis& other) override {
    pass_.merge(static_cast<SecondPassState&>(other).pass_);
  }
  bool end(const tmeter::TensorPart& whole, tmeter::Call&) override {
    const auto& first = static_cast<const FirstPassState&>(*whole.earlier());
    outcome = first.so_far();
    auto all = first.pass().sums();
    all.add(pass_.sums());
    outcome.measured = measurements_of(first.pass(), all);
    pass_.finish();
    return false;
  }

 private:
  SecondPass pass_;
};

}  // namespace

bool is_weight(const tmeter::Tensor& t) {
  return t.is_parameter() && t.dtype().kind() == tmeter::DTypeClass::kFloat &&
         t.dtype().id() != TMETER_DTYPE_FLOAT8_E8M0FNU && tmeter::decodable(t.dtype()) &&
         t.shape().rank() >= 2 && t.numel() > tmeter::Count(0);
}

int channel_axis_of(const tmeter::Tensor& t) {
  return t.owner() && t.owner().type().starts_with("ConvTranspose") ? 1 : 0;
}

std::unique_ptr<tmeter::TensorAnalysis> make_state(const tmeter::TensorPart& part, double ratio,
                                                   Collection& into) {
  if (part.earlier())
    return std::make_unique<SecondPassState>(static_cast<const FirstPassState&>(*part.earlier()),
                                             into);
  const auto tensor = part.tensor();
  const auto shape = tensor.shape();
  const std::vector<int64_t> dims(shape.begin(), shape.end());
  auto layout = layout_of(tensor.dtype(), dims, channel_axis_of(tensor));
  if (tensor.is_encoded()) layout.encoded_bytes = tensor.bytes().value();
  return std::make_unique<FirstPassState>(std::move(layout), part.first(), ratio, into);
}

const std::array<std::string, kSchemeCount>& metric_ids() {
  static const auto ids = [] {
    std::array<std::string, kSchemeCount> out;
    for (size_t i = 0; i < kSchemeCount; ++i) out[i] = "sqnr_" + std::string(kSchemes[i].id);
    return out;
  }();
  return ids;
}

}  // namespace quantization
