#include "state.hpp"

#include <tmeter/cpp/numbers.hpp>

#include "findings.hpp"

namespace pruning {
namespace {

constexpr int64_t kWholeRowBytes = int64_t{4} << 20;  // abi/tensor_analysis.h, tmeter_chunk
// Types whose magnitudes fall on bins exactly.
constexpr std::array<int32_t, 5> kShortMantissa{
    TMETER_DTYPE_BFLOAT16, TMETER_DTYPE_FLOAT8_E4M3FN, TMETER_DTYPE_FLOAT8_E5M2,
    TMETER_DTYPE_FLOAT8_E4M3FNUZ, TMETER_DTYPE_FLOAT8_E5M2FNUZ};

bool is_exact(tmeter::DType type) {
  for (const auto id : kShortMantissa)
    if (type.id() == id) return true;
  return false;
}

bool is_transposed(const tmeter::Tensor& t) {
  return t.owner() && t.owner().type().starts_with("ConvTranspose");
}

Shape shape_of(const tmeter::Tensor& t) {
  const auto shape = t.shape();
  const std::vector<int64_t> dims(shape.begin(), shape.end());
  return pruning::shape_of(dims, is_transposed(t));
}

class State final : public tmeter::TensorAnalysis {
 public:
  State(const tmeter::TensorPart& part, Collection& into)
      : into_(&into),
        dtype_(part.tensor().dtype()),
        magnitudes_(is_exact(dtype_)),
        structure_(std::in_place, shape_of(part.tensor()), part.first(),
                   whole_rows(part.tensor())) {}

  void chunk(const tmeter::Chunk& c, tmeter::Call&) override {
    values_.resize(static_cast<size_t>(c.count()));
    tmeter::decode<float>(dtype_, c.bytes(), std::span(values_));
    magnitudes_->add(values_);
    if (magnitudes_->finite()) structure_->add(c.first(), values_);
  }
  void merge(tmeter::TensorAnalysis& other) override {
    auto& next = static_cast<State&>(other);
    magnitudes_->merge(*next.magnitudes_);
    structure_->merge(*next.structure_);
  }

  bool end(const tmeter::TensorPart& whole, tmeter::Call&) override {
    const auto t = whole.tensor();
    weight_.tensor = t;
    weight_.name = t.name();
    weight_.shape = shape_of(t);
    weight_.elements = t.numel().value();
    weight_.finite = magnitudes_->finite();
    weight_.table = is_table(t);
    if (weight_.finite) describe();
    values_ = {};
    magnitudes_.reset();
    structure_.reset();
    return false;
  }

  void emit(const tmeter::Tensor& t, tmeter::Call& call) override {
    const auto give = [&](std::string_view id, tmeter::Cell value) {
      call.emit(id, TMETER_AXIS_TENSOR, t.index(), value);
    };
    const auto value_if = [&](bool available, double v) {
      return available ? tmeter::Cell(v) : tmeter::Cell::unavailable();
    };
    const bool available = weight_.finite && weight_.power > 0;
    give("loss_at_50", value_if(available, loss_at(weight_.curve, 0.5)));
    give("loss_at_90", value_if(available, loss_at(weight_.curve, 0.9)));
    give("kept_2_4", weight_.kept_2_4 ? tmeter::Cell(*weight_.kept_2_4)
                     : available      ? tmeter::Cell()
                                      : tmeter::Cell::unavailable());
    give("dead_filters",
         weight_.finite ? tmeter::Cell(tmeter::Count(static_cast<int64_t>(weight_.dead.size())))
                        : tmeter::Cell::unavailable());
    give("low_filters", value_if(weight_.finite, weight_.low));
    finish(t, call);
  }

 private:
  void finish(const tmeter::Tensor& t, tmeter::Call& call) {
    if (weight_.finite && weight_.power > 0) add_curve(t, call);
    into_->weights.push_back(std::move(weight_));
  }
  static bool whole_rows(const tmeter::Tensor& t) {
    return t.numel().value() / t.shape().front() <= kWholeRowBytes / t.dtype().bytes();
  }

  void describe() {
    weight_.power = magnitudes_->power();
    weight_.curve = magnitudes_->curve();
    weight_.kept_2_4 = structure_->share_kept_by_2_4();
    auto filters = structure_->row_norms(), inputs = structure_->column_norms();
    if (weight_.shape.transposed) std::swap(filters, inputs);
    if (!weight_.table) {
      weight_.dead = dead_filters(filters);
      weight_.low = low_share(filters);
    }
    if (is_projection(weight_.name)) {
      weight_.filter_norms = std::move(filters);
      weight_.input_norms = std::move(inputs);
    }
    const std::lock_guard lock(into_->mutex);
    into_->all.merge(*magnitudes_);
  }

  void add_curve(const tmeter::Tensor& t, tmeter::Call& call) const {
    tmeter::Series s;
    s.id = "pruning";
    s.title = "loss by pruned share";
    s.x_title = "pruned share";
    s.y_title = "loss of L2 norm";
    s.of = tmeter::target_of(t);
    for (const auto& p : weight_.curve) s.x.push_back(p.share), s.y.push_back(p.loss);
    call.add(s);
  }

  Collection* into_;
  tmeter::DType dtype_;
  std::optional<Magnitudes> magnitudes_;  // until `end`
  std::optional<Structure> structure_;
  std::vector<float> values_;
  Weight weight_;
};

}  // namespace

bool is_weight(const tmeter::Tensor& t) {
  return t.is_parameter() && t.dtype().kind() == tmeter::DTypeClass::kFloat &&
         t.dtype().id() != TMETER_DTYPE_FLOAT8_E8M0FNU && tmeter::decodable(t.dtype()) &&
         t.shape().rank() >= 2 && t.numel() > tmeter::Count(0);
}

bool is_table(const tmeter::Tensor& t) {
  if (t.owner() && t.owner().type().starts_with("Embedding")) return true;
  for (const std::string_view word : {"embed", "wte.", "wpe."})
    if (t.name().find(word) != std::string_view::npos && t.shape().rank() == 2) return true;
  return false;
}

std::unique_ptr<tmeter::TensorAnalysis> make_state(const tmeter::TensorPart& part,
                                                   Collection& into) {
  return std::make_unique<State>(part, into);
}

}  // namespace pruning
