// Fourier transforms: 5 N log2 N operations for N complex points, half of it for real ones (the
// convention of FFTW, https://www.fftw.org/speed/method.html). No MACs.
#include <cmath>
#include <vector>

#include "shapes.hpp"

namespace flops {
namespace {

constexpr double kPerComplexPoint = 5.0;
constexpr double kPerRealPoint = 2.5;

Count transform(Count all_points, double log2_sum, double per_point) {
  return whole(static_cast<double>(all_points.value()) * log2_sum * per_point + 0.5);
}

double log2_of(int64_t length) { return length > 1 ? std::log2(static_cast<double>(length)) : 0; }

/// One dim, a list of dims, or none: then the last two (`…2`), or all (`…n`).
std::vector<int64_t> transformed_dims(const Node& n, int64_t rank) {
  if (rank == 0) throw Unsupported("a Fourier transform of a scalar");
  const auto dim = n.arg("dim");
  std::vector<int64_t> dims;
  for (size_t i = 0; i < dim.size(); ++i) dims.push_back(dim[i].as_int());
  if (!dims.empty()) return dims;
  if (n.op().ends_with('n'))
    for (int64_t i = 0; i < rank; ++i) dims.push_back(i);
  else if (n.op().ends_with('2'))
    dims = {-2, -1};
  else
    dims = {dim.as_int(-1)};
  return dims;
}

// Lengths are those of the result, which has them all, padded or cut as requested.
template <bool real>
Count to_full_result(const Node& n) {
  const auto out = output(n).shape();
  double logs = 0;
  for (const auto d : transformed_dims(n, out.rank())) logs += log2_of(out[d]);
  return transform(out.numel(), logs, real ? kPerRealPoint : kPerComplexPoint);
}

// Real input, half of the spectrum as the result: the last transformed dim is that of the input,
// unless `n` or `s` says otherwise.
Count to_half_result(const Node& n) {
  const auto in = data(n).shape(), out = output(n).shape();
  const auto dims = transformed_dims(n, out.rank());
  const auto s = n.arg("s");
  int64_t length = n.arg("n").as_int(in[dims.back()]);
  if (s.size() > 0) length = s[s.size() - 1].as_int();
  Count points = length;
  double logs = log2_of(length);
  const int64_t halved = (dims.back() + out.rank()) % out.rank();
  for (int64_t d = 0; d < out.rank(); ++d)
    if (d != halved) points *= out[d];
  for (size_t i = 0; i + 1 < dims.size(); ++i) logs += log2_of(out[dims[i]]);
  return transform(points, logs, kPerRealPoint);
}

// Frames of n_fft samples: the window's multiplications and one real transform each.
Count stft(const Node& n) {
  const auto x = data(n).shape(), out = output(n).shape();
  const auto length = n.arg("n_fft").as_int();
  const bool complex = output(n).dtype().kind() == tmeter::DTypeClass::kComplex;
  const Count frames = x.product(0, x.rank() - 1) * (complex ? out[-1] : out[-2]);
  return frames * length + transform(frames * length, log2_of(length), kPerRealPoint);
}

// Frames of n_fft samples: a real transform, the window's multiplications and the sums of what
// overlaps; the same sums of the squared window, once; a division per sample.
Count istft(const Node& n) {
  const auto x = data(n).shape(), out = output(n).shape();
  const auto length = n.arg("n_fft").as_int();
  const Count frames = x.product(0, x.rank() - 2) * x[-1];
  return transform(frames * length, log2_of(length), kPerRealPoint) + 2 * frames * length +
         x[-1] * length + length + out.numel();
}

}  // namespace

void register_fft(tmeter::Registrar& r) {
  const auto both = [&r](Names ops, auto other) {
    for (const auto op : ops) r.op(op).zero(kMacs).handle(kOther, other);
  };
  both({"aten::_fft_c2c", "aten::fft_fft", "aten::fft_ifft", "aten::fft_fft2", "aten::fft_ifft2",
        "aten::fft_fftn", "aten::fft_ifftn"},
       to_full_result<false>);
  both({"aten::_fft_c2r", "aten::fft_irfft", "aten::fft_irfft2", "aten::fft_irfftn",
        "aten::fft_hfft", "aten::fft_hfft2", "aten::fft_hfftn"},
       to_full_result<true>);
  both({"aten::_fft_r2c", "aten::fft_rfft", "aten::fft_rfft2", "aten::fft_rfftn", "aten::fft_ihfft",
        "aten::fft_ihfft2", "aten::fft_ihfftn"},
       to_half_result);
  both({"aten::stft"}, stft);
  both({"aten::istft"}, istft);
}

}  // namespace flops
