#include "fold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tmeter/cpp/numbers.hpp>
#include <tmeter/cpp/tensor_analysis.hpp>

namespace fusion {
namespace {

using tmeter::Tensor;

/// A binary floating-point format: significant bits, exponent of the smallest step, largest number.
struct Format {
  int32_t dtype;
  int bits, smallest;
  double largest;
};
constexpr Format kFormats[]{{TMETER_DTYPE_FLOAT32, 24, -149, 3.4028234663852886e38},
                            {TMETER_DTYPE_BFLOAT16, 8, -133, 3.3895313892515355e38},
                            {TMETER_DTYPE_FLOAT16, 11, -24, 65504}};

const Format* format_of(tmeter::DType dtype) {
  for (const auto& f : kFormats)
    if (f.dtype == dtype.id()) return &f;
  return nullptr;
}

/// Rounds to nearest, ties to even; beyond the largest number it returns infinity.
double rounded(double v, const Format& f) {
  if (v == 0 || !std::isfinite(v)) return v;
  int exponent = 0;
  std::frexp(v, &exponent);
  const int step = std::max(exponent - f.bits, f.smallest);
  const double r = std::ldexp(std::nearbyint(std::ldexp(v, -step)), step);
  return std::fabs(r) > f.largest ? std::copysign(std::numeric_limits<double>::infinity(), v) : r;
}

void compare(double folded, double exact, bool source_is_finite, FoldError& error) {
  if (!source_is_finite) return;
  if (!std::isfinite(folded)) {
    error.overflows = true;
    return;
  }
  error.absolute = std::max(error.absolute, std::fabs(folded - exact));
  error.largest = std::max(error.largest, std::fabs(exact));
}

float root32(const Norm& n, size_t c) {
  return 1.f / std::sqrt(static_cast<float>(n.variance[c]) + static_cast<float>(n.epsilon));
}
double root64(const Norm& n, size_t c) { return 1 / std::sqrt(n.variance[c] + n.epsilon); }

std::vector<double> elements_of(const Tensor& t, const tmeter::TensorData& data, int64_t first,
                                int64_t count) {
  std::vector<double> out(static_cast<size_t>(count));
  tmeter::decode<double>(t.dtype(), data.view(first, count), std::span(out));
  return out;
}

bool readable(const Tensor& t, const tmeter::Call& call) {
  return tmeter::decodable(t.dtype()) && t.dtype().kind() == tmeter::DTypeClass::kFloat &&
         tmeter::TensorData(call, t).unavailable().empty();
}

/// Reads a vector of the batch norm; a missing one has `otherwise` in each channel.
bool read_channels(const tmeter::Value& v, size_t channels, double otherwise,
                   const tmeter::Call& call, std::vector<double>& out) {
  out.assign(channels, otherwise);
  if (v.is_none()) return true;
  const auto t = v.tensor();
  if (!t || !readable(t, call) || t.numel() != tmeter::Count(static_cast<int64_t>(channels)))
    return false;
  out = elements_of(t, tmeter::TensorData(call, t), 0, static_cast<int64_t>(channels));
  return true;
}

bool read_norm(const tmeter::Node& norm, size_t channels, const tmeter::Call& call, Norm& out) {
  out.epsilon = norm.arg(norm.arg("eps").is_none() ? "epsilon" : "eps").as_float(1e-5);
  return read_channels(norm.arg("running_mean"), channels, 0, call, out.mean) &&
         read_channels(norm.arg("running_var"), channels, 1, call, out.variance) &&
         read_channels(norm.arg("weight"), channels, 1, call, out.scale) &&
         read_channels(norm.arg("bias"), channels, 0, call, out.shift);
}

}  // namespace

void fold_weights(std::span<const double> weights, int64_t first, int64_t inner, int64_t channels,
                  const Norm& n, tmeter::DType dtype, FoldError& error) {
  const auto* format = format_of(dtype);
  for (size_t i = 0; format && i < weights.size(); ++i) {
    const auto c = static_cast<size_t>((first + static_cast<int64_t>(i)) / inner % channels);
    const float factor = static_cast<float>(n.scale[c]) * root32(n, c);
    const float folded = static_cast<float>(weights[i]) * factor;
    compare(rounded(folded, *format), weights[i] * n.scale[c] * root64(n, c),
            std::isfinite(weights[i]), error);
  }
}

void fold_bias(std::span<const double> bias, const Norm& n, tmeter::DType dtype, FoldError& error) {
  const auto* format = format_of(dtype);
  for (size_t c = 0; format && c < n.mean.size(); ++c) {
    const double b = bias.empty() ? 0 : bias[c];
    const float moved = static_cast<float>(b) - static_cast<float>(n.mean[c]);
    const float folded =
        moved * root32(n, c) * static_cast<float>(n.scale[c]) + static_cast<float>(n.shift[c]);
    const double exact = (b - n.mean[c]) * root64(n, c) * n.scale[c] + n.shift[c];
    compare(rounded(folded, *format), exact, std::isfinite(b), error);
  }
}

std::optional<FoldError> fold_error(const Foldable& f, const tmeter::Call& call) {
  const auto shape = f.weight.shape();
  const int64_t channel_dim = f.transposed ? 1 : 0;
  const int64_t channels = shape[channel_dim];
  Norm norm;
  if (!format_of(f.weight.dtype()) || !readable(f.weight, call)) return std::nullopt;
  const auto inner = shape.product(channel_dim + 1, shape.rank()).value();
  if (inner <= 0 || !read_norm(f.norm, static_cast<size_t>(channels), call, norm))
    return std::nullopt;
  FoldError weights, bias;
  std::vector<double> old_bias;
  if (f.bias) {
    if (!readable(f.bias, call) || f.bias.numel() != tmeter::Count(channels)) return std::nullopt;
    old_bias = elements_of(f.bias, tmeter::TensorData(call, f.bias), 0, channels);
  }
  constexpr int64_t kBlockElements = int64_t{1} << 20;  // bounds the memory
  const tmeter::TensorData data(call, f.weight);
  for (int64_t first = 0, n = f.weight.numel().value(); first < n; first += kBlockElements)
    fold_weights(elements_of(f.weight, data, first, std::min(kBlockElements, n - first)), first,
                 inner, channels, norm, f.weight.dtype(), weights);
  fold_bias(old_bias, norm, f.weight.dtype(), bias);
  auto& worse = weights.relative() < bias.relative() ? bias : weights;
  worse.overflows = weights.overflows || bias.overflows;
  return worse;
}

}  // namespace fusion
