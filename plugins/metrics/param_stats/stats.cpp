#include "stats.hpp"

#include "spectrum.hpp"

namespace param_stats {
namespace {

using tmeter::Call;
using tmeter::Tensor;

// A vector of Lanczos' method has as many numbers as a row.
constexpr int64_t kLongestRow = int64_t{1} << 21;

/// A tensor as a matrix: dim 0, all others. None: it has no singular values.
struct Shape {
  int64_t rows = 0, columns = 0;
};
std::optional<Shape> matrix_shape(const Tensor& tensor) {
  const auto shape = tensor.shape();
  if (shape.rank() < 2 || tensor.dtype().kind() != tmeter::DTypeClass::kFloat) return std::nullopt;
  const int64_t numel = tensor.numel().value();
  if (numel == 0) return std::nullopt;
  return Shape{shape.front(), numel / shape.front()};
}

Wanted wanted_of(const Call& call) {
  return {call.option_float("spectral-tolerance"), call.option_int("effective-rank")};
}

std::shared_ptr<RowSketch> sketch_of(const Tensor& tensor, const Call& call) {
  const auto shape = matrix_shape(tensor);
  if (!shape || !call.option_bool("spectral")) return nullptr;
  if (!wants_sketch(tensor.dtype(), shape->rows, shape->columns, wanted_of(call))) return nullptr;
  return std::make_shared<RowSketch>(tensor.dtype(), shape->columns);
}

void add_histogram(const Figures& f, const Tensor& tensor, const Call& call) {
  if (f.edges.empty()) return;
  tmeter::Distribution d;
  d.id = d.title = "values";
  d.of = tmeter::target_of(tensor);
  d.edges = f.edges;
  d.counts = f.counts;
  call.add(d);
}

}  // namespace

Kept& kept() {
  static Kept figures;
  return figures;
}

Stats::Stats(const tmeter::TensorPart& part, const Call& call)
    : threshold_(call.option_float("threshold")) {
  const auto* earlier = static_cast<const Stats*>(part.earlier());
  collector_ = earlier ? earlier->collector_->next()
                       : collector(part.tensor().dtype(), part.tensor().numel().value());
  if (!earlier) sketch_ = sketch_of(part.tensor(), call);
}

void Stats::chunk(const tmeter::Chunk& chunk, Call&) {
  collector_->add(chunk.bytes());
  if (sketch_) sketch_->add(chunk.first(), chunk.bytes());
}

void Stats::merge(tmeter::TensorAnalysis& other) {
  auto& o = static_cast<Stats&>(other);
  collector_->merge(*o.collector_);
  if (sketch_) sketch_->merge(*o.sketch_);
}

bool Stats::end(const tmeter::TensorPart& whole, Call& call) {
  if (const auto* earlier = static_cast<const Stats*>(whole.earlier()))
    figures_ = earlier->figures_, sketch_ = earlier->sketch_;
  if (collector_->finish(threshold_, figures_)) return true;
  collector_.reset();
  figures_.raw_bits = static_cast<double>(whole.tensor().bytes().value()) * 8;
  if (call.option_bool("spectral")) find_spectrum(whole.tensor(), call);
  sketch_.reset();
  return false;
}

void Stats::find_spectrum(const Tensor& tensor, const Call& call) {
  const auto shape = matrix_shape(tensor);
  if (!shape) return;
  if (figures_.nan + figures_.inf > 0) return;  // said by a finding
  if (figures_.largest_magnitude() == 0) {
    figures_.spectral_norm = 0;
    return;
  }
  const auto [rows, columns] = *shape;
  const auto wanted = wanted_of(call);
  if (rows > std::max(kGramSide, wanted.rank_side) && columns > kLongestRow) {
    left_out_ = "its rows of " + std::to_string(columns) + " elements are too long";
    return;
  }
  const tmeter::TensorData data(call, tensor);
  const Matrix a{rows, columns, tensor.dtype(),
                 [&](int64_t first, int64_t count) { return data.view(first, count); },
                 figures_.largest_magnitude()};
  const auto spectrum = spectrum_of(
      a, wanted, [&] { return call.cancelled(); }, sketch_.get());
  if (!spectrum) {
    left_out_ = "Lanczos' method does not converge";
    return;
  }
  figures_.spectral_norm = spectrum->norm;
  figures_.effective_rank = spectrum->effective_rank;
  figures_.rank_left_out = !spectrum->effective_rank;
}

void Stats::emit(const Tensor& tensor, Call& call) {
  const auto give = [&](std::string_view id, tmeter::Cell cell) {
    call.emit(id, TMETER_AXIS_TENSOR, tensor.index(), cell);
  };
  for (const auto& m : pooled_metrics()) give(m.spec.id, m.of(figures_));
  for (const auto& m : tensor_metrics()) give(m.spec.id, m.of(figures_, tensor));
  if (!left_out_.empty()) {
    give("spectral_norm", tmeter::Cell::unavailable());
    call.warn("no spectral norm of '" + std::string(tensor.name()) + "': " + left_out_);
  }
  add_histogram(figures_, tensor, call);
  figures_.edges = {};
  figures_.counts = {};
  kept().emplace(tensor.index(), std::move(figures_));
}

}  // namespace param_stats
