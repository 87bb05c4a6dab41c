// Like every_name_test.cpp, for operators without matrix products: the section "Other arithmetic"
// of docs/conventions.md, by hand.
#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace {

using fake::Dims;
using fake::Op;
using fake::op;
using Names = std::initializer_list<const char*>;

template <class Make>
void expect_other(Names names, Make make, int64_t other) {
  for (const auto name : names) {
    EXPECT_EQ(make(name).count("other_flops"), other) << name;
    EXPECT_TRUE(make(name).zero_by_rule("macs")) << name;
  }
}

// --- normalizations -----------------------------------------------------------------------------

Op norm(const char* name) { return op(name).tensor("input", {2, 3, 4}).out({2, 3, 4}); }
Op norm_with_weight(const char* name) { return norm(name).tensor("weight", {3}); }
Op norm_with_both(const char* name) { return norm_with_weight(name).tensor("bias", {3}); }

TEST(EveryName, BatchNorms) {
  const Names norms{"aten::batch_norm",
                    "aten::native_batch_norm",
                    "aten::_native_batch_norm_legit",
                    "aten::_native_batch_norm_legit_functional",
                    "aten::_batch_norm_impl_index",
                    "aten::cudnn_batch_norm",
                    "aten::miopen_batch_norm"};
  expect_other(norms, norm_with_both, 24 * 2);
  for (const auto flag : {"training", "train"})
    expect_other(
        norms, [&](const char* name) { return norm(name).flag(flag); }, 24 * 6);
  expect_other({"aten::_native_batch_norm_legit_no_training", "aten::_batch_norm_no_update",
                "aten::batch_norm_elemt", "aten::quantized_batch_norm", "quantized::batch_norm",
                "quantized::batch_norm1d", "quantized::batch_norm2d", "quantized::batch_norm3d",
                "onednn::qbatch_norm2d"},
               norm_with_both, 24 * 2);
  expect_other({"quantized::batch_norm_relu", "quantized::batch_norm1d_relu",
                "quantized::batch_norm2d_relu", "quantized::batch_norm3d_relu"},
               norm_with_both, 24 * 3);
  expect_other({"aten::_batch_norm_with_update", "aten::_batch_norm_with_update_functional"},
               norm_with_both, 24 * 6);
}

TEST(EveryName, LayerNorms) {
  const Names norms{"aten::layer_norm", "aten::native_layer_norm", "quantized::layer_norm",
                    "static_runtime::layer_norm"};
  expect_other(norms, norm, 24 * 6);
  expect_other(norms, norm_with_weight, 24 * 7);
  expect_other(norms, norm_with_both, 24 * 8);
  EXPECT_EQ(norm(norms.begin()[0]).tensor("gamma", {3}).tensor("beta", {3}).count("other_flops"),
            24 * 8);
}

TEST(EveryName, OtherNorms) {
  expect_other({"aten::group_norm", "aten::native_group_norm", "quantized::group_norm"},
               norm_with_both, 24 * 6);
  const Names instance{"aten::instance_norm", "quantized::instance_norm"};
  expect_other(instance, norm_with_both, 24 * 6);
  expect_other(
      instance, [](const char* name) { return norm(name).number("use_input_stats", 0); }, 24 * 2);
  const Names rms{"aten::rms_norm", "aten::_fused_rms_norm"};
  expect_other(rms, norm, 24 * 3);
  expect_other(rms, norm_with_weight, 24 * 4);
  expect_other({"aten::renorm", "aten::renorm_"}, norm, 24 * 3);
}

// --- pooling ------------------------------------------------------------------------------------

TEST(EveryName, Poolings) {
  const auto kernel = [](const Dims& sizes) {
    return [sizes](const char* name) {
      return op(name).tensor("self", {1, 9, 9}).numbers("kernel_size", sizes).out({1, 2, 4});
    };
  };
  const Names in_1d{"aten::max_pool1d", "aten::max_pool1d_with_indices", "aten::avg_pool1d",
                    "aten::quantized_max_pool1d", "quantized::max_pool1d"};
  const Names in_2d{"aten::max_pool2d",           "aten::max_pool2d_with_indices",
                    "aten::avg_pool2d",           "aten::mkldnn_max_pool2d",
                    "aten::quantized_max_pool2d", "quantized::max_pool2d",
                    "aten::fractional_max_pool2d"};
  const Names in_3d{"aten::max_pool3d",           "aten::max_pool3d_with_indices",
                    "aten::avg_pool3d",           "aten::mkldnn_max_pool3d",
                    "aten::quantized_max_pool3d", "aten::fractional_max_pool3d"};
  expect_other(in_1d, kernel({3}), 8 * 3);
  expect_other(in_2d, kernel({3}), 8 * 3 * 3);
  expect_other(in_2d, kernel({3, 2}), 8 * 3 * 2);
  expect_other(in_3d, kernel({3}), 8 * 3 * 3 * 3);
  expect_other(in_3d, kernel({3, 2, 5}), 8 * 3 * 2 * 5);
  const auto pool = [] { return op("aten::max_pool2d").tensor("self", {1, 9, 9}).out({1, 2, 4}); };
  EXPECT_EQ(pool().number("kernel_size", 3).count("other_flops"), 8 * 9);
  EXPECT_EQ(pool().count("other_flops"), std::nullopt);
}

TEST(EveryName, AdaptivePoolings) {
  // 6 → 4: [0,2) [1,3) [3,5) [4,6), 8 elements; 6 → 3 and 10 → 5 divide.
  const auto pool = [](const Dims& in, const Dims& out) {
    return [in, out](const char* name) { return op(name).tensor("self", in).out(out); };
  };
  expect_other({"aten::adaptive_avg_pool1d", "aten::adaptive_max_pool1d"}, pool({2, 6}, {2, 4}),
               2 * 8);
  expect_other({"aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d",
                "aten::adaptive_max_pool2d", "aten::mkldnn_adaptive_avg_pool2d"},
               pool({2, 6, 6}, {2, 4, 3}), 2 * 8 * 6);
  expect_other(
      {"aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d", "aten::adaptive_max_pool3d"},
      pool({2, 6, 6, 10}, {2, 4, 3, 5}), 2 * 8 * 6 * 10);
  const auto from_3 = [&](int64_t out) {
    return pool({1, 3}, {1, out})("aten::adaptive_avg_pool1d").count("other_flops");
  };
  EXPECT_EQ(from_3(0), 0);
  EXPECT_EQ(from_3(1'000'000), 1'000'002);  // two windows cross a border
  EXPECT_EQ(from_3(1'000'001), std::nullopt);
}

// --- resampling ---------------------------------------------------------------------------------

TEST(EveryName, Resampling) {
  const auto upsample = [](const char* name) {
    return op(name).tensor("self", {1, 2, 3}).out({1, 2, 6});
  };
  for (const auto name : {"aten::upsample_nearest1d", "aten::upsample_nearest2d",
                          "aten::upsample_nearest3d", "aten::_upsample_nearest_exact1d",
                          "aten::_upsample_nearest_exact2d", "aten::_upsample_nearest_exact3d"})
    EXPECT_TRUE(upsample(name).zero_by_rule("other_flops")) << name;
  expect_other({"aten::upsample_linear1d"}, upsample, 12 * 3);
  expect_other({"aten::upsample_bilinear2d"}, upsample, 12 * 9);
  expect_other({"aten::upsample_trilinear3d"}, upsample, 12 * 21);
  expect_other({"aten::upsample_bicubic2d"}, upsample, 12 * 35);
}

/// 6 planes of 16 × 6 become 4 × 3: first every row to 3 columns (scale 2), then 4 rows (scale 4).
TEST(EveryName, AntialiasedResampling) {
  const auto shrink = [](const char* name) {
    return op(name).tensor("self", {2, 3, 16, 6}).out({2, 3, 4, 3}).count("other_flops");
  };
  // Taps 2⌈filter/2 · scale⌉ + 1, operations 2 · taps − 1.
  EXPECT_EQ(shrink("aten::_upsample_bilinear2d_aa"), 6 * 3 * (16 * 9 + 4 * 17));  // 5, 9 taps
  EXPECT_EQ(shrink("aten::_upsample_bicubic2d_aa"), 6 * 3 * (16 * 17 + 4 * 33));  // 9, 17 taps
  EXPECT_EQ(shrink("aten::_upsample_lanczos2d_aa"), 6 * 3 * (16 * 25 + 4 * 49));  // 13, 25 taps
  // An empty result does not cause a division by zero.
  EXPECT_EQ(op("aten::_upsample_bilinear2d_aa")
                .tensor("self", {1, 1, 4, 4})
                .out({1, 1, 0, 4})
                .count("other_flops"),
            4 * 4 * 5);
}

TEST(EveryName, GridSamplers) {
  const auto sample = [](const char* name, const Dims& out, int64_t mode) {
    return op(name).tensor("input", {1, 2, 5, 5}).number("interpolation_mode", mode).out(out);
  };
  const auto flat = [&](const char* name, int64_t mode) {
    return sample(name, {1, 2, 3, 3}, mode).count("other_flops");
  };
  for (const auto name : {"aten::grid_sampler", "aten::grid_sampler_2d", "aten::grid_sampler_3d",
                          "aten::_grid_sampler_2d_cpu_fallback"}) {
    EXPECT_EQ(flat(name, 0), 18 * 7) << name;   // four products, three additions
    EXPECT_EQ(flat(name, 1), 0) << name;        // nearest
    EXPECT_EQ(flat(name, 2), 18 * 35) << name;  // bicubic
    EXPECT_EQ(flat(name, 3), std::nullopt) << name;
    EXPECT_EQ(sample(name, {1, 2, 3, 3, 3}, 0).count("other_flops"), 54 * 15) << name;
  }
  EXPECT_EQ(flat("aten::cudnn_grid_sampler", 0), 18 * 7);
}

TEST(EveryName, RegionsOfInterest) {
  for (const auto name :
       {"torchvision::roi_align", "torchvision::qroi_align", "torchvision::ps_roi_align"}) {
    const auto align = [name](int64_t ratio) {
      auto n = op(name).tensor("input", {1, 2, 9, 9}).number("sampling_ratio", ratio);
      return n.out({1, 2, 3, 3}).count("other_flops");
    };
    EXPECT_EQ(align(1), 18 * 8) << name;
    EXPECT_EQ(align(3), 18 * 9 * 8) << name;  // 9 samples of 7, and their mean
    EXPECT_EQ(align(0), std::nullopt) << name;
    EXPECT_EQ(align(-1), std::nullopt) << name;
  }
}

// --- Fourier transforms: 5 N log2 N, of real numbers half of it ---------------------------------

TEST(EveryName, FourierTransforms) {
  const auto full = [](const char* name) {
    return op(name).tensor("self", {2, 4, 8}).out({2, 4, 8});
  };
  expect_other({"aten::fft_fft", "aten::fft_ifft"}, full, 5 * 64 * 3);
  expect_other({"aten::fft_fft2", "aten::fft_ifft2"}, full, 5 * 64 * (3 + 2));
  expect_other({"aten::fft_fftn", "aten::fft_ifftn"}, full, 5 * 64 * (3 + 2 + 1));
  expect_other({"aten::fft_irfft", "aten::fft_hfft"}, full, 5 * 64 * 3 / 2);
  expect_other({"aten::fft_irfft2", "aten::fft_hfft2"}, full, 5 * 64 * (3 + 2) / 2);
  expect_other({"aten::fft_irfftn", "aten::fft_hfftn"}, full, 5 * 64 * (3 + 2 + 1) / 2);
  const auto half = [](const char* name) {
    return op(name).tensor("self", {2, 4, 8}).out({2, 4, 5});
  };
  expect_other({"aten::fft_rfft", "aten::fft_ihfft"}, half, 5 * 64 * 3 / 2);
  expect_other({"aten::fft_rfft2", "aten::fft_ihfft2"}, half, 5 * 64 * (3 + 2) / 2);
  expect_other({"aten::fft_rfftn", "aten::fft_ihfftn"}, half, 5 * 64 * (3 + 2 + 1) / 2);
}

TEST(EveryName, FourierTransformsAlongNamedDims) {
  const auto along = [](const char* name, const Dims& dims, const Dims& out) {
    return op(name).tensor("self", {2, 8, 4}).numbers("dim", dims).out(out).count("other_flops");
  };
  EXPECT_EQ(along("aten::_fft_c2c", {1}, {2, 8, 4}), 5 * 64 * 3);
  EXPECT_EQ(along("aten::_fft_c2r", {0, 1}, {2, 8, 4}), 5 * 64 * (1 + 3) / 2);
  EXPECT_EQ(along("aten::_fft_r2c", {1}, {2, 5, 4}), 5 * 64 * 3 / 2);
  EXPECT_EQ(along("aten::_fft_r2c", {2, 1}, {2, 5, 4}), 5 * 64 * (2 + 3) / 2);
  const auto one = [](const char* name, const Dims& out) {
    return op(name).tensor("self", {2, 8, 4}).number("dim", 1).out(out).count("other_flops");
  };
  EXPECT_EQ(one("aten::fft_fft", {2, 8, 4}), 5 * 64 * 3);
  EXPECT_EQ(one("aten::fft_rfft", {2, 5, 4}), 5 * 64 * 3 / 2);
}

TEST(EveryName, FourierTransformsPadAndCut) {
  const auto rfft = [](const char* name) { return op(name).tensor("self", {2, 4, 8}); };
  EXPECT_EQ(rfft("aten::fft_rfft").number("n", 16).out({2, 4, 9}).count("other_flops"),
            5 * 128 * 4 / 2);
  EXPECT_EQ(rfft("aten::fft_rfft2").numbers("s", {2, 16}).out({2, 2, 9}).count("other_flops"),
            5 * 64 * (4 + 1) / 2);
}

TEST(EveryName, FourierTransformsOfOddLengths) {
  const auto fft = [](const Dims& dims) {
    return op("aten::fft_fft").tensor("self", dims).out(dims).count("other_flops");
  };
  EXPECT_EQ(fft({3}), 24);  // 5 · 3 · 1.585 = 23.77
  EXPECT_EQ(fft({7, 1}), 0);
  EXPECT_EQ(fft({}), std::nullopt);
}

/// 42 frames of 16 samples: 16 multiplications and a real transform each.
TEST(EveryName, ShortTimeFourierTransform) {
  const auto stft = [] { return op("aten::stft").tensor("self", {2, 100}).number("n_fft", 16); };
  constexpr int64_t kExpected = 42 * 16 + 5 * 42 * 16 * 4 / 2;
  EXPECT_EQ(stft().out({2, 9, 21}, TMETER_DTYPE_COMPLEX64).count("other_flops"), kExpected);
  EXPECT_EQ(stft().out({2, 9, 21, 2}).count("other_flops"), kExpected);
  EXPECT_TRUE(stft().out({2, 9, 21, 2}).zero_by_rule("macs"));
}

/// 2 · 21 frames of 16 samples: a real transform, 16 multiplications, 16 sums; of the squared
/// window 16 squares and the sums of 21 frames; a division for each of 2 · 80 samples.
TEST(EveryName, InverseShortTimeFourierTransform) {
  EXPECT_EQ(op("aten::istft")
                .tensor("self", {2, 9, 21})
                .number("n_fft", 16)
                .out({2, 80})
                .count("other_flops"),
            5 * 42 * 16 * 4 / 2 + 2 * 42 * 16 + 21 * 16 + 16 + 160);
}

// --- look-ups -----------------------------------------------------------------------------------

TEST(EveryName, EmbeddingBags) {
  const auto bag = [](const char* name) {
    return op(name).tensor("weight", {9, 8}).tensor("indices", {6}).out({3, 8});
  };
  const Names bags{"aten::embedding_bag",
                   "aten::_embedding_bag",
                   "aten::_embedding_bag_forward_only",
                   "quantized::embedding_bag_byte",
                   "quantized::embedding_bag_4bit",
                   "quantized::embedding_bag_byte_rowwise_offsets",
                   "quantized::embedding_bag_4bit_rowwise_offsets",
                   "quantized::embedding_bag_2bit_rowwise_offsets"};
  expect_other(bags, bag, 6 * 8);
  for (const auto name : bags) {
    EXPECT_EQ(bag(name).tensor("per_sample_weights", {6}).count("other_flops"), 2 * 48) << name;
    EXPECT_EQ(bag(name).number("mode", 1).count("other_flops"), 48 + 24) << name;  // the mean
    EXPECT_EQ(bag(name).number("mode", 2).count("other_flops"), 48) << name;       // the maximum
  }
}

TEST(EveryName, AccumulatingScatters) {
  for (const auto name : {"aten::index_add", "aten::index_add_", "aten::scatter_add",
                          "aten::scatter_add_", "aten::scatter_reduce", "aten::scatter_reduce_",
                          "aten::index_reduce", "aten::index_reduce_"})
    for (const auto source : {"src", "source"}) {
      const auto n = op(name).tensor("self", {9}).tensor(source, {4}).out({9});
      EXPECT_EQ(n.count("other_flops"), 4) << name;
    }
  for (const auto name : {"aten::index_put", "aten::index_put_", "aten::_index_put_impl",
                          "aten::_index_put_impl_", "aten::_unsafe_index_put"}) {
    auto n = op(name).tensor("self", {9}).tensor("values", {4}).out({9});
    EXPECT_EQ(n.count("other_flops"), 0) << name;
    EXPECT_EQ(n.flag("accumulate").count("other_flops"), 4) << name;
  }
}

TEST(EveryName, PairwiseDistances) {
  for (const auto name : {"aten::cdist", "aten::_cdist_forward"})  // subtract, multiply, add; root
    EXPECT_EQ(op(name).tensor("x1", {5, 7}).tensor("x2", {3, 7}).out({5, 3}).count("other_flops"),
              15 * (3 * 7 + 1))
        << name;
  for (const auto name : {"aten::pdist", "aten::_pdist_forward"})
    EXPECT_EQ(op(name).tensor("self", {5, 7}).out({10}).count("other_flops"), 10 * 22) << name;
}

TEST(EveryName, InPlaceGelu) {
  EXPECT_EQ(op("aten::gelu_").tensor("self", {10}).out({10}).count("other_flops"), 50);
}

// --- families -----------------------------------------------------------------------------------

TEST(EveryName, OperatorsThatMakeNoTensorCostNothing) {
  EXPECT_TRUE(op("aten::add").tensor("self", {4}).zero_by_rule("other_flops"));
  auto list = op("aten::_foreach_add").tensors("self", {{4}, {5}});
  EXPECT_EQ(list.tensors_out({{4}, {5}}).count("other_flops"), 9);
  EXPECT_TRUE(op("aten::_foreach_add").tensors_out({}).zero_by_rule("other_flops"));
}

}  // namespace
