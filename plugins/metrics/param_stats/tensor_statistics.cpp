#include "tensor_statistics.hpp"

#include <limits>

namespace param_stats {
namespace {

using tmeter::Call;
using tmeter::Cell;
using tmeter::Tensor;

constexpr int64_t kMaxColumns = int64_t{1} << 21;  // also the length of a vector of Lanczos' method

void add_histogram(const Statistics& s, const Tensor& tensor, const Call& call) {
  if (s.edges.empty()) return;
  tmeter::Distribution d;
  d.id = d.title = "values";
  d.of = tmeter::target_of(tensor);
  d.edges = s.edges;
  d.counts = s.counts;
  call.add(d);
}

void emit(const Column& column, const Tensor& tensor, Call& call, Cell cell) {
  call.emit(column.spec.id, TMETER_AXIS_TENSOR, tensor.index(), cell);
}

}  // namespace

RunResults& run_results() {
  static RunResults results;
  return results;
}

TensorStatistics::TensorStatistics(const tmeter::TensorPart& part, const Call& call)
    : threshold_(call.option_float("threshold")) {
  const auto* earlier = static_cast<const TensorStatistics*>(part.earlier());
  const auto tensor = part.tensor();
  const auto decoded = !tensor.is_encoded()                   ? Decoded::kNo
                       : call.option_bool("packed-quantiles") ? Decoded::kTwoPasses
                                                              : Decoded::kOnePass;
  collector_ = earlier ? earlier->collector_->next()
                       : make_collector(tensor.dtype(), tensor.numel().value(), decoded);
}

void TensorStatistics::chunk(const tmeter::Chunk& chunk, Call&) { collector_->add(chunk.bytes()); }

void TensorStatistics::merge(tmeter::TensorAnalysis& other) {
  collector_->merge(*static_cast<TensorStatistics&>(other).collector_);
}

bool TensorStatistics::end(const tmeter::TensorPart& whole, Call&) {
  if (const auto* earlier = static_cast<const TensorStatistics*>(whole.earlier()))
    statistics_ = earlier->statistics_;
  if (collector_->finish(threshold_, statistics_)) return true;
  collector_.reset();
  statistics_.raw_bits = static_cast<double>(whole.tensor().bytes().value()) * 8;
  if (whole.tensor().is_encoded())
    statistics_.coded_bits = std::numeric_limits<double>::quiet_NaN();
  return false;
}

void TensorStatistics::emit(const Tensor& tensor, Call& call) {
  for (const auto& column : columns()) {
    if (column.pooled) param_stats::emit(column, tensor, call, column.pooled(statistics_));
    if (column.of_tensor)
      param_stats::emit(column, tensor, call, column.of_tensor(statistics_, tensor));
  }
  add_histogram(statistics_, tensor, call);
  statistics_.edges = {};
  statistics_.counts = {};
  run_results().statistics.emplace(tensor.index(), std::move(statistics_));
}

bool is_matrix(const Tensor& tensor) {
  return tensor.shape().rank() >= 2 && tensor.dtype().kind() == tmeter::DTypeClass::kFloat;
}

bool TensorSpectrum::end(const tmeter::TensorPart& whole, Call& call) {
  const auto tensor = whole.tensor();
  const tmeter::TensorData data(call, tensor);
  const int64_t rows = tensor.shape().front();
  const Matrix a{rows, tensor.numel().value() / rows, tensor.dtype(),
                 [&](int64_t first, int64_t count) { return data.view(first, count); }};
  const SpectrumOptions options{call.option_float("spectral-tolerance"),
                                call.option_int("effective-rank")};
  if (a.columns > kMaxColumns && a.rows > options.rank_side) {
    left_out_ = "its rows of " + std::to_string(a.columns) + " elements are too long";
    return false;
  }
  const auto result = spectrum_of(a, options, [&] { return call.cancelled(); });
  spectrum_ = result.spectrum;
  if (result.finite && !spectrum_) left_out_ = "Lanczos' method does not converge";
  return false;
}

void TensorSpectrum::emit(const Tensor& tensor, Call& call) {
  for (const auto& column : columns()) {
    if (!column.spectral) continue;
    if (spectrum_) param_stats::emit(column, tensor, call, column.spectral(*spectrum_));
    if (!left_out_.empty()) param_stats::emit(column, tensor, call, Cell::unavailable());
  }
  if (spectrum_) run_results().norms.emplace(tensor.index(), spectrum_->norm);
  if (!left_out_.empty())
    call.warn("no spectral norm of '" + std::string(tensor.name()) + "': " + left_out_);
}

}  // namespace param_stats
