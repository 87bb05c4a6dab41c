// What singular values are worked out from, by SIMD.
#pragma once
#include <cstddef>
#include <functional>

namespace param_stats {

/// gram += sum over k of p_k p_k^T, lower triangle of a m x m matrix with `stride` numbers a row.
/// Row k of the panel is p + k * stride; stride is m rounded up to kGramStep, or more. What is
/// beyond m is 0.
constexpr size_t kGramStep = 16;
void add_gram(const double* p, size_t rows, size_t m, size_t stride, double* gram);

/// A tridiagonal matrix with the eigenvalues of a symmetric one of m rows, of which the lower
/// triangle is given and used up: m numbers of the diagonal, and m - 1 below it. False:
/// `stop`, which is asked for each row, said so.
bool make_tridiagonal(double* a, size_t m, size_t stride, double* diagonal, double* below,
                      const std::function<bool()>& stop = nullptr);

/// out += A^T (A v) for rows x columns numbers of A, the rows `columns` apart.
void add_normal_product(const float* a, size_t rows, size_t columns, const double* v, double* out);
void add_normal_product(const double* a, size_t rows, size_t columns, const double* v, double* out);

/// How numbers are stored that are multiplied as they lie there: uint16_t but for float.
enum class Stored { kFloat, kHalf, kBrain };

/// Blocks of vectors: each of `stride` floats, a multiple of kBlockStep. What is missing to
/// kBlockVectors is 0. Their numbers are in an order of the kernels' own, within kBlockStep: rows
/// are to be given from the same column on each time, or from one a multiple of it away.
constexpr size_t kBlockStep = 32;
constexpr size_t kBlockVectors = 4;

/// z[row * kBlockVectors + k] += a_row · v_k for rows x columns numbers at `a`, the rows `pitch`
/// numbers apart.
void add_block_dots(Stored stored, const void* a, size_t rows, size_t columns, size_t pitch,
                    const float* v, size_t stride, float* z);
/// y_k += sum over the rows of z[row * kBlockVectors + k] a_row.
void add_block_rows(Stored stored, const void* a, size_t rows, size_t columns, size_t pitch,
                    const float* z, size_t stride, float* y);

/// out[i * kBlockVectors + k] = a_i · b_k, in double.
void block_products(const float* a, const float* b, size_t stride, double* out);
/// w_k += sum over i of factors[i * kBlockVectors + k] q_i.
void add_block_mix(const float* q, const float* factors, size_t stride, float* w);

}  // namespace param_stats
