// The largest singular value to a tolerance of 5e-4 and more: block Lanczos on A^T A, in float.
//
// Four vectors are multiplied by the matrix at a time: where it does not fit the cache that takes
// little longer than one, and a step brings four dimensions. Golub & Underwood, "The block Lanczos
// method for computing eigenvalues", 1977. Numbers are multiplied as they are stored, a block of
// rows twice while it is in the second cache: for A V, and for A^T (A V).
//
// A sketch of the matrix gives the start, which spares one step to three.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <tmeter/cpp/numbers.hpp>

#include "matrix_kernels.hpp"
#include "spectrum.hpp"

namespace param_stats {
namespace {

using Small = Eigen::MatrixXd;

constexpr size_t kBlockBytes = size_t{256} << 10;  // of rows that are multiplied together
constexpr int kMostBlockSteps = 100, kSketchPower = 2;
constexpr double kNothing = 1e-4;  // of a block's size: a direction that is rounding only, perhaps
constexpr int kFarFromOne = 30, kMostScale = 100;  // exponents

/// Vectors side by side. What is beyond the matrix's columns belongs to them, as if it had columns
/// of zeros there: they change no singular value.
class Vectors {
 public:
  explicit Vectors(size_t length)
      : stride_((length + kBlockStep - 1) / kBlockStep * kBlockStep),
        numbers_(kBlockVectors * stride_) {}

  size_t count() const { return count_; }
  void resize(size_t count) { count_ = count; }
  size_t stride() const { return stride_; }
  float* data() { return numbers_.data(); }
  const float* data() const { return numbers_.data(); }
  void clear() { std::fill(numbers_.begin(), numbers_.end(), 0.f); }
  auto matrix() {
    return Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<>>(
        numbers_.data(), static_cast<Eigen::Index>(stride_), static_cast<Eigen::Index>(count_),
        Eigen::OuterStride<>(static_cast<Eigen::Index>(stride_)));
  }

 private:
  size_t stride_, count_ = 0;
  std::vector<float> numbers_;
};

/// y = (s A)^T (s A v), s a power of two that keeps numbers far from 1 within float.
class Product {
 public:
  Product(const Matrix& a, const std::function<bool()>& stop)
      : a_(a), stop_(stop), stored_(stored_as(a.dtype)) {
    const int exponent = std::ilogb(a.largest);
    if (std::abs(exponent) > kFarFromOne)
      scale_ = static_cast<float>(std::exp2(std::clamp(-exponent, -kMostScale, kMostScale)));
    rows_ = static_cast<int64_t>(std::max<size_t>(kBlockBytes / row_bytes(), 2));
  }
  double scale() const { return static_cast<double>(scale_); }

  void apply(Vectors& v, Vectors& y) {
    y.clear();
    y.resize(v.count());
    if (scale_ != 1) v.matrix() *= scale_;
    for (int64_t row = 0; row < a_.rows; row += rows_) {
      if (stop_()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
      const int64_t n = std::min(rows_, a_.rows - row);
      multiply(read(row, n), static_cast<size_t>(n), v, y);
    }
    if (scale_ != 1) v.matrix() /= scale_;
  }

  /// Of s A.
  RowSketch sketch() {
    RowSketch out(a_.dtype, a_.columns, scale_);
    for (int64_t row = 0; row < a_.rows; row += rows_) {
      if (stop_()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
      const int64_t n = std::min(rows_, a_.rows - row) * a_.columns;
      out.add(row * a_.columns, a_.read(row * a_.columns, n));
    }
    return out;
  }

 private:
  Stored stored() const { return stored_.value_or(Stored::kFloat); }
  size_t row_bytes() const {
    return static_cast<size_t>(a_.columns * (stored_ ? a_.dtype.bytes() : 4));
  }
  const uint8_t* read(int64_t row, int64_t rows) {
    const auto bytes = a_.read(row * a_.columns, rows * a_.columns);
    if (stored_) return bytes.data();
    decoded_.resize(static_cast<size_t>(rows * a_.columns));
    tmeter::decode<float>(a_.dtype, bytes, std::span(decoded_));
    return reinterpret_cast<const uint8_t*>(decoded_.data());
  }
  void multiply(const uint8_t* a, size_t rows, const Vectors& v, Vectors& y) {
    const auto columns = static_cast<size_t>(a_.columns);
    const size_t size = stored() == Stored::kFloat ? 4 : 2;
    products_.assign(rows * kBlockVectors, 0.f);
    each_tile(columns, [&](size_t j, size_t n) {
      add_block_dots(stored(), a + j * size, rows, n, columns, v.data() + j, v.stride(),
                     products_.data());
    });
    for (auto& z : products_) z *= scale_;
    each_tile(columns, [&](size_t j, size_t n) {
      add_block_rows(stored(), a + j * size, rows, n, columns, products_.data(), y.stride(),
                     y.data() + j);
    });
  }

  const Matrix& a_;
  const std::function<bool()>& stop_;
  std::optional<Stored> stored_;
  float scale_ = 1;
  int64_t rows_ = 2;
  std::vector<float> products_, decoded_;
};

/// The same on every machine: splitmix64.
void fill_at_random(Vectors& v) {
  uint64_t state = 0;
  v.resize(kBlockVectors);
  auto matrix = v.matrix();
  for (Eigen::Index k = 0; k < matrix.cols(); ++k) {
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      state += 0x9e3779b97f4a7c15u;
      uint64_t z = state;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      matrix(i, k) = static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-24f - 0.5f;
    }
  }
}

/// B^T (B B^T)^2 r, B the sums, r random: what is large in B is large in each of the vectors, and
/// nothing is missing in all of them. False: all is 0, or too large for float.
bool fill_by_sketch(const RowSketch& b, Vectors& v) {
  const auto sums = static_cast<Eigen::Index>(b.sums());
  const auto gram = b.gram();
  Small squares = Eigen::Map<const Eigen::MatrixXf>(gram.data(), sums, sums).cast<double>();
  const double trace = squares.trace();
  if (!squares.allFinite() || trace <= 0) return false;
  squares /= trace;
  Vectors random(b.sums());
  fill_at_random(random);
  Small mixed = random.matrix().topRows(sums).cast<double>();
  for (int i = 0; i < kSketchPower; ++i) {
    // Orthogonal, so that none is lost beside one that is much larger.
    const Eigen::HouseholderQR<Small> qr(squares * mixed);
    mixed = qr.householderQ() * Small::Identity(sums, mixed.cols());
  }
  std::vector<float> factors;
  for (Eigen::Index i = 0; i < sums; ++i)
    for (Eigen::Index k = 0; k < mixed.cols(); ++k)
      factors.push_back(static_cast<float>(mixed(i, k)));
  v.clear();
  v.resize(kBlockVectors);
  each_tile(b.stride(), [&](size_t j, size_t n) {
    add_block_rows(Stored::kFloat, b.data() + j, b.sums(), n, b.stride(), factors.data(),
                   v.stride(), v.data() + j);
  });
  return true;
}

using Block = Eigen::Matrix<double, kBlockVectors, kBlockVectors, Eigen::RowMajor>;

Small products(const Vectors& a, const Vectors& b) {
  Block out;
  block_products(a.data(), b.data(), a.stride(), out.data());
  return out.topLeftCorner(static_cast<Eigen::Index>(a.count()),
                           static_cast<Eigen::Index>(b.count()));
}
/// w += q f
void add_mixed(Vectors& w, const Vectors& q, const Small& factors) {
  Eigen::Matrix<float, kBlockVectors, kBlockVectors, Eigen::RowMajor> f;
  f.setZero();
  f.topLeftCorner(factors.rows(), factors.cols()) = factors.cast<float>();
  add_block_mix(q.data(), f.data(), q.stride(), w.data());
}
void take_away(Vectors& w, const Vectors& q, const Small& factors) { add_mixed(w, q, -factors); }

/// w = q b with orthonormal q. Directions up to `floor` long are left out: of matrices of a low
/// rank nothing else is left.
Small orthonormalise(Vectors& w, double floor, Vectors& q) {
  const Eigen::SelfAdjointEigenSolver<Small> solver(products(w, w));
  const auto& squares = solver.eigenvalues();
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < squares.size(); ++i)
    if (squares[i] > floor * floor) kept.push_back(i);
  const auto rank = static_cast<Eigen::Index>(kept.size()), count = squares.size();
  Small b(rank, count), back(count, rank);
  for (Eigen::Index i = 0; i < rank; ++i) {
    const double size = std::sqrt(squares[kept[static_cast<size_t>(i)]]);
    b.row(i) = size * solver.eigenvectors().col(kept[static_cast<size_t>(i)]).transpose();
    back.col(i) = solver.eigenvectors().col(kept[static_cast<size_t>(i)]) / size;
  }
  q.clear();
  q.resize(kept.size());
  add_mixed(q, w, back);
  return b;
}

/// kBlockVectors orthonormal vectors: those given, and random ones for what is missing in them.
void start_with(Vectors& given, Vectors& now) {
  orthonormalise(given, kNothing * static_cast<double>(given.matrix().norm()), now);
  const auto found = static_cast<Eigen::Index>(now.count());
  fill_at_random(given);
  given.matrix() /= std::sqrt(static_cast<float>(given.stride()));
  given.matrix().leftCols(found) = now.matrix();
  orthonormalise(given, 0, now);  // what rounding has left of each in the others, too
}

/// The block tridiagonal matrix of the steps so far.
class Tridiagonal {
 public:
  void add_diagonal(const Small& a) {
    put(a, size_, size_);
    last_ = size_;
    size_ += a.rows();
  }
  /// b: from the last block to one that comes.
  void add_below(const Small& b) { below_ = b; }
  /// The largest eigenvalue, and what it may be off by: with the residuals r of c Ritz vectors and
  /// the gap below them, r^2 / gap (Parlett, The Symmetric Eigenvalue Problem, 11.7), taken twice,
  /// or r itself and half of it more, as the eigenvalue that is so close need not be the largest of
  /// dozens. A gap counts where the value below it is known better than that, and where c is
  /// less than a block has vectors: among more eigenvalues so close some may not be seen yet.
  std::pair<double, double> largest() const {
    const Eigen::SelfAdjointEigenSolver<Small> solver(t_.topLeftCorner(size_, size_));
    const auto& values = solver.eigenvalues();
    const Small residuals = below_ * solver.eigenvectors().bottomRows(size_ - last_);
    const double value = values[size_ - 1];
    double squares = residuals.col(size_ - 1).squaredNorm(), error = 1.5 * std::sqrt(squares);
    const auto first = size_ - static_cast<Eigen::Index>(kBlockVectors);
    for (Eigen::Index i = size_ - 2; i >= std::max<Eigen::Index>(first, 0); --i) {
      const double gap = values[i + 1] - values[i];
      const double below = residuals.col(i).squaredNorm();
      if (below < gap * gap / 4) error = std::fmin(error, 2 * squares / gap);
      squares += below;
    }
    return {value, error};
  }
  void put_below() { put(below_, size_, last_); }

 private:
  /// A block and its mirror image.
  void put(const Small& block, Eigen::Index row, Eigen::Index column) {
    const auto need = std::max(row + block.rows(), column + block.cols());
    if (need > t_.rows()) {
      Small larger = Small::Zero(2 * need, 2 * need);
      larger.topLeftCorner(t_.rows(), t_.cols()) = t_;
      t_.swap(larger);
    }
    t_.block(row, column, block.rows(), block.cols()) = block;
    t_.block(column, row, block.cols(), block.rows()) = block.transpose();
  }
  Small t_, below_;
  Eigen::Index size_ = 0, last_ = 0;
};

}  // namespace

std::optional<double> norm_by_blocks(const Matrix& matrix, double tolerance,
                                     const std::function<bool()>& stop, const RowSketch* sketch) {
  const auto length = static_cast<size_t>(matrix.columns);
  Product product(matrix, stop);
  Vectors before(length), now(length), next(length);
  if (!fill_by_sketch(sketch ? *sketch : product.sketch(), next)) fill_at_random(next);
  start_with(next, now);
  Tridiagonal t;
  Small below;
  for (int step = 0; step < kMostBlockSteps; ++step) {
    product.apply(now, next);
    if (step > 0) take_away(next, before, below.transpose());
    Small diagonal = products(now, next);
    take_away(next, now, diagonal);
    const Small again = products(now, next);  // what rounding has left
    take_away(next, now, again);
    diagonal += again;
    t.add_diagonal((diagonal + diagonal.transpose()) / 2);
    const double size = diagonal.norm();
    if (!std::isfinite(size)) return std::nullopt;
    before.resize(0);
    below = orthonormalise(next, 0.02 * tolerance * size, before);
    t.add_below(below);
    const bool through = below.rows() == 0;  // an invariant subspace: all is known
    if (through || (step > 0 && step < 6) || step % 2 == 1) {
      const auto [value, error] = t.largest();
      // An eigenvalue is the square of a singular value: half of its relative error.
      if (through || error <= 2 * tolerance * value) return std::sqrt(value) / product.scale();
    }
    t.put_below();
    std::swap(before, now);  // now: the vectors that were left, before: those of this step
  }
  return std::nullopt;
}

}  // namespace param_stats
