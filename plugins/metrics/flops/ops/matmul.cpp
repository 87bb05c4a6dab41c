// Matrix products. One function covers most: every output element is a dot product over the last
// dim of the left operand, with or without broadcasting. Equals torch.utils.flop_counter.mm_flop
// / 2.
#include <algorithm>
#include <bit>
#include <vector>

#include "shapes.hpp"

namespace flops {
namespace {

Count over_last_dim_of(const Node& n, Names left) {
  const auto a = tensor_arg(n, left);
  // float4_e2m1fn_x2 holds two numbers in one element of the contracted dim.
  const int64_t numbers = a.dtype().id() == TMETER_DTYPE_FLOAT4_E2M1FN_X2 ? 2 : 1;
  return output(n).numel() * last_dim(a) * numbers;
}

Count matmul(const Node& n) { return over_last_dim_of(n, {"self", "input", "inp", "qa"}); }
Count addmm(const Node& n) { return over_last_dim_of(n, {"mat1", "batch1", "mat"}); }
Count sparse_mm(const Node& n) { return over_last_dim_of(n, {"sparse"}); }

// Compressed left operand: the dense count, over the rows of the right one.
Count semi_structured(const Node& n) {
  return output(n).numel() * tensor_arg(n, {"mat2", "dense_B"}).shape()[-2];
}

// A X = B by substitution: row i of X takes i products of rows found before, and one division
// unless the diagonal is ones (LAPACK Working Note 41, xTRSM). From the right, columns do so.
Count solve_triangular(const Node& n) {
  return output(n).numel() * (last_dim(tensor_arg(n, {"A", "self"})) - 1) / 2;
}
Count divide_by_diagonal(const Node& n) {
  return n.arg("unitriangular").as_bool() ? 0 : output(n).numel();
}

// A X = B by elimination: with m rows left, a step divides m elements and subtracts m * m products.
// Two substitutions follow; the first one has ones on its diagonal (LAPACK Working Note 41, xGETRF
// and xGETRS).
Count solve(const Node& n) {
  const auto a = tensor_arg(n, {"A"});
  const Count size = last_dim(a);
  if (a.numel() == Count(0)) return 0;
  return a.numel() / size / size * (size * (size - 1) * (size * 2 - 1) / 6) +
         output(n).numel() * (size - 1);
}
Count divide_by_pivots(const Node& n) {
  const auto a = tensor_arg(n, {"A"});
  if (a.numel() == Count(0)) return 0;
  return a.numel() / last_dim(a) * (last_dim(a) - 1) / 2 + output(n).numel();
}

// self + sum over the batch of batch1 @ batch2: the batch is contracted as well.
Count addbmm(const Node& n) {
  return tensor_arg(n, {"batch1"}).numel() * tensor_arg(n, {"batch2"}).shape().back();
}

Count vecdot(const Node& n) {
  return output(n).numel() * tensor_arg(n, {"x"}).shape()[n.arg("dim").as_int(-1)];
}

Count tensordot(const Node& n) {
  const auto dims = n.arg("dims_self");
  const auto shape = tensor_arg(n, {"self"}).shape();
  Count k = 1;
  for (size_t i = 0; i < dims.size(); ++i) k *= shape[dims[i].as_int()];
  return output(n).numel() * k;
}

// Groups along rows or columns share the contraction; two matrices are cut along the contraction
// itself, so each element of the left one is multiplied by each column once.
Count grouped_mm(const Node& n) {
  const auto a = tensor_arg(n, {"self"}), b = tensor_arg(n, {"mat2"});
  if (a.shape().rank() == 2 && b.shape().rank() == 2) return a.numel() * b.shape().back();
  return output(n).numel() * a.shape().back();
}

// Repeated squaring: floor(log2 n) squarings and one product per further set bit of n. Negative
// powers need an inverse, which is not a matrix product: unknown.
Count matrix_power(const Node& n) {
  const auto power = n.arg("n").as_int();
  if (power < 0) throw Unsupported("matrix_power of a negative power inverts");
  if (power < 2) return 0;
  const auto bits = static_cast<uint64_t>(power);
  return (std::bit_width(bits) - 1 + std::popcount(bits) - 1) * matmul(n);
}

// The cheapest order of a chain of matrices, as linalg.multi_dot chooses it (CLRS 15.2). A vector
// at either end is a row or column.
Count multi_dot(const Node& n) {
  const auto list = n.arg(n.arg("tensors").is_list() ? "tensors" : "matrices");
  const auto count = static_cast<int64_t>(list.size());
  if (count < 2 || count > 64) throw Unsupported("multi_dot of a list of unusual length");
  std::vector<int64_t> sizes;  // matrix i is sizes[i] × sizes[i+1]
  for (int64_t i = 0; i < count; ++i) {
    const auto s = list[static_cast<size_t>(i)].shape();
    if (s.empty()) throw Unsupported("multi_dot of something other than a matrix");
    if (i == 0) sizes.push_back(s.rank() == 1 ? 1 : s.front());
    sizes.push_back(s.rank() == 1 && i > 0 ? 1 : s.back());
  }
  std::vector<std::vector<Count>> best(sizes.size(), std::vector<Count>(sizes.size()));
  for (int64_t length = 2; length <= count; ++length) {
    for (int64_t i = 0; i + length <= count; ++i) {
      const auto j = i + length;  // the product of matrices [i, j)
      for (int64_t k = i + 1; k < j; ++k) {
        const auto cost = best[i][k] + best[k][j] + Count(sizes[i]) * sizes[k] * sizes[j];
        if (k == i + 1 || cost < best[i][j]) best[i][j] = cost;
      }
    }
  }
  return best[0][count];
}

// aten/native/Linear.cpp: (i1 · i2) first, over the summed dims that i3 lacks, then (· i3) over the
// rest. Each operand lacks the dims in its `expand` list.
Count trilinear(const Node& n) {
  constexpr size_t kMaxDims = 16;
  int64_t size[3][kMaxDims];
  const auto listed = [&n](std::string_view name, size_t dim) {
    const auto list = n.arg(name);
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i].as_int() == static_cast<int64_t>(dim)) return true;
    return false;
  };
  const std::string_view operands[] = {"i1", "i2", "i3"};
  const std::string_view expands[] = {"expand1", "expand2", "expand3"};
  const size_t dims =
      static_cast<size_t>(tensor_arg(n, {"i1"}).shape().rank()) + n.arg("expand1").size();
  if (dims > kMaxDims) throw Unsupported("_trilinear of very many dims");
  for (size_t o = 0; o < 3; ++o) {
    const auto shape = tensor_arg(n, {operands[o]}).shape();
    int64_t next = 0;
    for (size_t d = 0; d < dims; ++d) size[o][d] = listed(expands[o], d) ? 1 : shape[next++];
  }
  Count first = 1, second = 1;
  for (size_t d = 0; d < dims; ++d) {
    const int64_t pair = std::max(size[0][d], size[1][d]);
    first *= pair;
    const bool summed_early = listed("sumdim", d) && listed("expand3", d);
    second *= summed_early ? 1 : std::max(pair, size[2][d]);
  }
  return first + second;
}

// y_o = x1ᵀ W_o x2: as _trilinear does it, rows * out * in2 * (in1 + 1).
Count bilinear(const Node& n) {
  const auto w = tensor_arg(n, {"weight"}).shape();  // [out, in1, in2]
  return output(n).numel() * w[2] * (Count(w[1]) + 1);
}

// The grid is [N, positions, K+1] times theta [N, K, K+1] transposed.
Count affine_grid(const Node& n) { return output(n).numel() * (last_dim(output(n)) + 1); }

Count no_other(const Node&) { return 0; }
Count add_self(const Node& n) { return output(n).numel(); }
Count add_self_and_activate(const Node& n) {
  return output(n).numel() * (n.arg("use_gelu").as_bool() ? 1 + 5 : 1 + 1);
}

// An outer product multiplies and accumulates nothing: no MAC, as torch computes it by `mul`.
void register_outer(tmeter::Registrar& r) {
  for (const auto op : {"aten::outer", "aten::ger"})
    r.op(op).zero(kMacs).handle(kOther, [](const Node& n) { return output(n).numel(); });
  for (const auto op : {"aten::addr", "aten::addr_"})
    r.op(op).zero(kMacs).handle(kOther, [](const Node& n) { return output(n).numel() * 2; });
}

}  // namespace

void register_matmul(tmeter::Registrar& r) {
  rules(r,
        {"aten::mm", "aten::bmm", "aten::matmul", "aten::linalg_matmul", "aten::mv", "aten::dot",
         "aten::vdot", "aten::inner", "aten::_int_mm", "aten::_weight_int4pack_mm",
         "aten::_weight_int4pack_mm_for_cpu", "aten::_weight_int4pack_mm_with_scales_and_zeros",
         "aten::_weight_int8pack_mm", "aten::_dyn_quant_matmul_4bit",
         // Mixture of experts as Hugging Face exports it, where the kernel is missing: rows [S, K]
         // sorted by expert, each multiplied by its expert's [K, N] of weights [G, K, N].
         "transformers::grouped_mm_fallback"},
        matmul, no_other);
  rules(r,
        {"aten::linear", "aten::mkldnn_linear", "aten::_scaled_mm", "aten::_scaled_mm_v2",
         "aten::_mixed_dtypes_linear", "aten::_sparse_semi_structured_linear"},
        matmul, bias_adds);
  rules(r,
        {"aten::addmm", "aten::addmm_", "aten::baddbmm", "aten::baddbmm_", "aten::addmv",
         "aten::addmv_", "aten::_sparse_addmm", "aten::_scaled_addmm"},
        addmm, add_self);
  rules(r, {"aten::_addmm_activation"}, addmm, add_self_and_activate);
  rules(r, {"aten::addbmm", "aten::addbmm_"}, addbmm, add_self);
  rules(r, {"aten::_sparse_mm"}, sparse_mm, no_other);
  rules(r, {"aten::_sparse_semi_structured_mm", "aten::_cslt_sparse_mm"}, semi_structured,
        bias_adds);
  rules(r, {"aten::_sparse_semi_structured_addmm"}, semi_structured, add_self);
  rules(r, {"aten::linalg_vecdot"}, vecdot, no_other);
  rules(r, {"aten::tensordot"}, tensordot, no_other);
  rules(r, {"aten::_grouped_mm", "aten::_scaled_grouped_mm", "aten::_scaled_grouped_mm_v2"},
        grouped_mm, bias_adds);
  rules(r, {"aten::matrix_power", "aten::linalg_matrix_power"}, matrix_power, no_other);
  rules(r, {"aten::linalg_multi_dot", "aten::chain_matmul"}, multi_dot, no_other);
  rules(r, {"aten::linalg_solve_triangular", "aten::triangular_solve"}, solve_triangular,
        divide_by_diagonal);
  rules(r, {"aten::linalg_solve", "aten::_linalg_solve_ex"}, solve, divide_by_pivots);
  rules(r, {"aten::_trilinear"}, trilinear, no_other);
  rules(r, {"aten::bilinear"}, bilinear, bias_adds);
  rules(r, {"aten::affine_grid_generator", "aten::cudnn_affine_grid_generator"}, affine_grid,
        no_other);
  register_outer(r);
}

}  // namespace flops
