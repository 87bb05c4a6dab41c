// The largest singular value to a tolerance of 5e-4 and more: block Lanczos on A^T A, in float.
//
// Four vectors are multiplied by the matrix at a time: where it does not fit the cache that takes
// little longer than one, and a step brings four dimensions. Golub & Underwood, "The block Lanczos
// method for computing eigenvalues", 1977. Numbers are multiplied as they are stored, a block of
// rows twice while it is in the second cache: for A V, and for A^T (A V).
//
// A sketch of the matrix gives the start, which spares one step to three. Where many are ahead they
// go on with a byte for each number (coarse.hpp).
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "block_tridiagonal.hpp"
#include "coarse.hpp"

namespace param_stats {
namespace {

constexpr int kMostBlockSteps = 100, kSketchPower = 4;
constexpr double kNothingNew = 0.02;  // of the tolerance: a direction that is rounding only
constexpr double kNothing = 1e-4;  // of a block's size: a direction that is rounding only, perhaps

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

void take_away(Vectors& w, const Vectors& q, const Small& factors) { add_mixed(w, q, -factors); }

/// kBlockVectors orthonormal vectors: those given, and random ones for what is missing in them.
void start_with(Vectors& given, Vectors& now) {
  orthonormalise(given, kNothing * static_cast<double>(given.matrix().norm()), now);
  const auto found = static_cast<Eigen::Index>(now.count());
  fill_at_random(given);
  given.matrix() /= std::sqrt(static_cast<float>(given.stride()));
  given.matrix().leftCols(found) = now.matrix();
  orthonormalise(given, 0, now);  // what rounding has left of each in the others, too
}

/// The steps of the method, one after the other.
class Steps {
 public:
  explicit Steps(size_t length) : before_(length), now_(length), next_(length) {}

  /// To be filled before `begin`.
  Vectors& start() { return next_; }
  void begin() {
    start_with(next_, now_);
    t_ = {};
    count_ = 0;
  }
  const Vectors& now() const { return now_; }
  /// multiply(v, y): y = A^T (A v). `nothing`: relative, what is rounding. False: beyond float.
  template <class F>
  bool step(double nothing, F multiply) {
    multiply(now_, next_);
    if (count_++ > 0) take_away(next_, before_, below_.transpose());
    Small diagonal = products(now_, next_);
    take_away(next_, now_, diagonal);
    const Small again = products(now_, next_);  // what rounding has left
    take_away(next_, now_, again);
    diagonal += again;
    t_.add_diagonal((diagonal + diagonal.transpose()) / 2);
    const double size = diagonal.norm();
    if (!std::isfinite(size)) return false;
    before_.resize(0);
    below_ = orthonormalise(next_, nothing * size, before_);
    t_.add_below(below_);
    return true;
  }
  bool through() const { return below_.rows() == 0; }  // an invariant subspace: all is known
  Tridiagonal& so_far() { return t_; }
  void go_on() {
    t_.put_below();
    std::swap(before_, now_);  // now: the vectors that were left, before: those of this step
  }

 private:
  Vectors before_, now_, next_;
  Tridiagonal t_;
  Small below_;
  int count_ = 0;
};

/// Goes on with a byte for each number where many steps are ahead, and looks at the numbers
/// themselves once more in the end: their norm of the vectors that were found is none too large.
class CoarseSearch {
 public:
  CoarseSearch(BlockProduct& product, Steps& steps, double tolerance)
      : product_(product), steps_(steps), tolerance_(tolerance) {}

  /// Before each step so far.
  void keep_block() {
    if (!tried_) blocks_.push_back(steps_.now());
  }
  /// What stands out of a matrix has shown itself in the first vectors already: where they are all
  /// alike nothing does.
  bool worth_while(int step, const Ritz& ritz) const {
    if (tried_) return false;
    if (step == 0) return ritz.last > kAlike && ritz.residual > kFarToGo[0];
    return step >= kMostExactSteps || ritz.residual > kFarToGo[static_cast<size_t>(step)];
  }
  /// None: there is no telling this way. The steps then go on, or start again near the end.
  std::optional<double> norm(const Ritz& ritz) {
    tried_ = true;
    const auto coarse = Coarse::of(product_);
    if (!coarse || coarse->noise() > kMostNoise * std::sqrt(ritz.value)) return std::nullopt;
    const double value = go(*coarse);
    start_again();
    const double found = norm_of_start();
    if (std::fabs(found - value) <= tolerance_ * value) return found;
    steps_.begin();
    return std::nullopt;
  }

 private:
  static constexpr int kMostExactSteps = 3, kMostCoarseSteps = 60;
  static constexpr double kAlike = 0.75;
  static constexpr std::array<double, kMostExactSteps> kFarToGo{0.3, 0.15, 0.05};  // residuals
  static constexpr double kMostNoise = 0.06;  // of the norm as far as it is known

  /// The norm of the matrix of bytes, as far as the steps come.
  double go(Coarse& coarse) {
    Ritz ritz;
    for (int step = 1, check = 4; step <= kMostCoarseSteps; ++step) {
      blocks_.push_back(steps_.now());
      const bool finite = steps_.step(kNothingNew * tolerance_,
                                      [&](const Vectors& v, Vectors& y) { coarse.apply(v, y); });
      if (!finite) break;
      if (step == check || steps_.through() || step == kMostCoarseSteps) {
        ritz = steps_.so_far().largest();
        check += 2;
        if (steps_.through() || ritz.likely_error <= 2 * tolerance_) break;
      }
      steps_.go_on();
    }
    return std::sqrt(ritz.value);
  }
  /// The start: what was found.
  void start_again() {
    const Small& factors = steps_.so_far().vectors();
    Vectors& found = steps_.start();
    found.clear();
    found.resize(static_cast<size_t>(factors.cols()));
    Eigen::Index row = 0;
    for (const auto& block : blocks_) {
      const auto count = static_cast<Eigen::Index>(block.count());
      add_mixed(found, block, factors.middleRows(row, count));
      row += count;
    }
  }
  double norm_of_start() {
    Vectors orthonormal(static_cast<size_t>(product_.matrix().columns));
    orthonormalise(steps_.start(), 0, orthonormal);
    const Eigen::SelfAdjointEigenSolver<Small> solver(product_.squares(orthonormal));
    return std::sqrt(solver.eigenvalues().maxCoeff());
  }

  BlockProduct& product_;
  Steps& steps_;
  double tolerance_;
  bool tried_ = false;
  std::vector<Vectors> blocks_;
};

}  // namespace

std::optional<double> norm_by_blocks(const Matrix& matrix, double tolerance,
                                     const std::function<bool()>& stop, const RowSketch* sketch) {
  BlockProduct product(matrix, stop);
  Steps steps(static_cast<size_t>(matrix.columns));
  CoarseSearch coarse(product, steps, tolerance);
  if (!fill_by_sketch(sketch ? *sketch : product.sketch(), steps.start()))
    fill_at_random(steps.start());
  steps.begin();
  for (int step = 0; step < kMostBlockSteps; ++step) {
    coarse.keep_block();
    if (!steps.step(kNothingNew * tolerance, [&](Vectors& v, Vectors& y) { product.apply(v, y); }))
      return std::nullopt;
    std::optional<Ritz> ritz;
    if (steps.through() || step < 6 || step % 2 == 1) {
      ritz = steps.so_far().largest();
      // An eigenvalue is the square of a singular value: half of its relative error.
      if (steps.through() || (step > 0 && ritz->error <= 2 * tolerance))
        return std::sqrt(ritz->value) / product.scale();
    }
    steps.go_on();
    if (!ritz || !coarse.worth_while(step, *ritz)) continue;
    if (const auto norm = coarse.norm(*ritz)) return norm;
  }
  return std::nullopt;
}

}  // namespace param_stats
