// The two products that singular values are worked out from, by SIMD.
#pragma once
#include <cstddef>

namespace param_stats {

/// gram += sum over k of p_k p_k^T, lower triangle of a m x m matrix with `stride` numbers a row.
/// Row k of the panel is p + k * stride; stride is m rounded up to kGramStep, what is beyond m is
/// 0.
constexpr size_t kGramStep = 16;
void add_gram(const double* p, size_t rows, size_t m, size_t stride, double* gram);

/// out += A^T (A v) for rows x columns numbers of A, the rows `columns` apart.
void add_normal_product(const float* a, size_t rows, size_t columns, const double* v, double* out);
void add_normal_product(const double* a, size_t rows, size_t columns, const double* v, double* out);

}  // namespace param_stats
