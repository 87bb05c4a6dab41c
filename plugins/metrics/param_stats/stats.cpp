#include "stats.hpp"

#include "spectrum.hpp"

namespace param_stats {
namespace {

using tmeter::Call;
using tmeter::Tensor;

// A vector of Lanczos' method has as many numbers as a row.
constexpr int64_t kLongestRow = int64_t{1} << 21;

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
}

void Stats::chunk(const tmeter::Chunk& chunk, Call&) { collector_->add(chunk.bytes()); }

void Stats::merge(tmeter::TensorAnalysis& other) {
  collector_->merge(*static_cast<Stats&>(other).collector_);
}

bool Stats::end(const tmeter::TensorPart& whole, Call& call) {
  if (const auto* earlier = static_cast<const Stats*>(whole.earlier()))
    figures_ = earlier->figures_;
  if (collector_->finish(threshold_, figures_)) return true;
  collector_.reset();
  figures_.raw_bits = static_cast<double>(whole.tensor().bytes().value()) * 8;
  if (call.option_bool("spectral")) find_spectrum(whole.tensor(), call);
  return false;
}

void Stats::find_spectrum(const Tensor& tensor, const Call& call) {
  const auto shape = tensor.shape();
  const bool matrix = shape.rank() >= 2 && tensor.dtype().kind() == tmeter::DTypeClass::kFloat;
  if (!matrix || figures_.elements() == 0) return;
  if (figures_.nan + figures_.inf > 0) return;  // said by a finding
  if (figures_.largest_magnitude() == 0) {
    figures_.spectral_norm = 0;
    return;
  }
  const int64_t rows = shape.front(), columns = tensor.numel().value() / rows;
  if (rows > kGramSide && columns > kLongestRow) {
    left_out_ = "its rows of " + std::to_string(columns) + " elements are too long";
    return;
  }
  const tmeter::TensorData data(call, tensor);
  const Matrix a{rows, columns, tensor.dtype(),
                 [&](int64_t first, int64_t count) { return data.view(first, count); },
                 figures_.largest_magnitude()};
  const double tolerance = call.option_float("spectral-tolerance");
  const auto spectrum = spectrum_of(a, tolerance, [&] { return call.cancelled(); });
  if (!spectrum) {
    left_out_ = "Lanczos' method does not converge";
    return;
  }
  figures_.spectral_norm = spectrum->norm;
  figures_.effective_rank = spectrum->effective_rank;
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
