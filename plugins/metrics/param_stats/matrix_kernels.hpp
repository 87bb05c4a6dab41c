// The inner loops of singular values, by SIMD. The order of additions is fixed and products are
// rounded before they are added, so that every processor gives the same digits.
#pragma once
#include <cstddef>

namespace param_stats {

/// gram += sum over k of p_k p_k^T, lower triangle of an m x m matrix of `stride` elements a row.
/// Row k of the panel is p + k * stride; stride is m rounded up to kGramStep, or more. Elements
/// beyond m are 0.
constexpr size_t kGramStep = 16;
void add_gram(const double* p, size_t rows, size_t m, size_t stride, double* gram);

/// out += A^T (A v); A has rows x columns elements, the rows `columns` apart.
void add_normal_product(const float* a, size_t rows, size_t columns, const double* v, double* out);
void add_normal_product(const double* a, size_t rows, size_t columns, const double* v, double* out);

}  // namespace param_stats
