// The data of op_class.hpp: operator names without namespace, by class.
//
// Taken from all forward schemas of torch 2.15 (`torch._C._jit_get_all_schemas()`), torchvision
// 0.30 and the tags of native_functions.yaml, then sorted by hand. Other operators are kOther, and
// metrics must report "unknown" for them instead of guessing. Matrix decompositions (svd, qr, …),
// FFTs, losses whose cost depends on data (ctc_loss) and backward operators are left out on
// purpose. In-place names (`relu_`), `_out`, `_copy` and `_foreach_` forms follow from the base
// name.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base.hpp"

TMETER_SDK_BEGIN

enum class OpClass : uint8_t {
  kConvolution,
  kMatmul,
  kAttention,
  kRecurrent,
  kEmbedding,
  kNormalization,
  kSoftmax,
  kPooling,
  kActivation,
  kElementwise,
  kReduction,
  kInterpolation,
  kGather,
  kSort,
  kCreation,
  kRandom,
  kCopy,
  kView,
  kControl,
  kOther
};

namespace detail {

struct OpClassRow {
  OpClass kind;
  std::string_view names;  // separated by single spaces
};

inline constexpr std::array kOpClassRows{
    OpClassRow{OpClass::kConvolution,
               "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d "
               "convolution convolution_overrideable conv_tbc conv_depthwise3d slow_conv3d "
               "slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d "
               "slow_conv_transpose2d slow_conv_transpose3d thnn_conv2d mkldnn_convolution "
               "cudnn_convolution cudnn_convolution_relu cudnn_convolution_add_relu "
               "cudnn_convolution_transpose miopen_convolution miopen_convolution_relu "
               "miopen_convolution_add_relu miopen_convolution_transpose "
               "miopen_depthwise_convolution _convolution _convolution_mode _conv_depthwise2d "
               "_slow_conv2d_forward _nnpack_spatial_convolution _mps_convolution "
               "_mps_convolution_transpose deform_conv2d"},
    OpClassRow{OpClass::kConvolution,  // quantized::, onednn::, mkldnn::, mkldnn_prepacked::
               "conv1d_relu conv2d_relu conv3d_relu conv2d_add conv2d_add_relu conv1d_dynamic "
               "conv2d_dynamic conv3d_dynamic conv_transpose1d_dynamic conv_transpose2d_dynamic "
               "conv_transpose3d_dynamic conv2d_run qconv1d_pointwise qconv2d_pointwise "
               "qconv3d_pointwise qconv_pointwise _convolution_pointwise "
               "_convolution_transpose_pointwise"},
    OpClassRow{OpClass::kMatmul,
               "linear addmm mm bmm baddbmm addbmm matmul mv addmv dot vdot inner outer ger addr "
               "einsum tensordot bilinear _trilinear affine_grid_generator "
               "cudnn_affine_grid_generator chain_matmul linalg_multi_dot linalg_matmul "
               "linalg_vecdot matrix_power linalg_matrix_power mkldnn_linear _addmm_activation "
               "_int_mm _scaled_mm _scaled_mm_v2 _scaled_addmm _grouped_mm _scaled_grouped_mm "
               "_scaled_grouped_mm_v2 _weight_int4pack_mm _weight_int4pack_mm_for_cpu "
               "_weight_int4pack_mm_with_scales_and_zeros _weight_int8pack_mm "
               "_dyn_quant_matmul_4bit _mixed_dtypes_linear _sparse_mm _sparse_addmm "
               "_sparse_semi_structured_linear _sparse_semi_structured_mm "
               "_sparse_semi_structured_addmm _cslt_sparse_mm fbgemm_linear_fp16_weight "
               "fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight "
               "fbgemm_linear_int8_weight_fp32_activation"},
    OpClassRow{
        OpClass::kMatmul,  // quantized::, _quantized::, onednn::, mkldnn::, mkl::, transformers::
        "linear_relu linear_dynamic linear_relu_dynamic linear_dynamic_fp16 "
        "linear_relu_dynamic_fp16 linear_leaky_relu linear_tanh "
        "grouped_mm_fallback linear_dynamic_fp16_unpacked_weight "
        "linear_with_input_q_dq_qweight_dq_output_fp32 "
        "linear_with_input_q_dq_qweight_dq_relu_output_fp32 int4mm_packed_weight_cpu "
        "qlinear_pointwise _linear_pointwise _mkl_linear wrapped_quantized_linear "
        "wrapped_fbgemm_linear_fp16_weight _wrapped_quantized_linear_prepacked"},
    OpClassRow{OpClass::kAttention,
               "scaled_dot_product_attention _scaled_dot_product_attention_math "
               "_scaled_dot_product_attention_math_for_mps _scaled_dot_product_flash_attention "
               "_scaled_dot_product_flash_attention_for_cpu "
               "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
               "_scaled_dot_product_fused_attention_overrideable _flash_attention_forward "
               "_flash_attention_forward_no_dropout_inplace _efficient_attention_forward "
               "_cudnn_attention_forward _cudnn_attention_forward_no_dropout_inplace "
               "_native_multi_head_attention native_multi_head_attention "
               "_triton_multi_head_attention _triton_scaled_dot_attention "
               "_transformer_encoder_layer_fwd"},
    OpClassRow{OpClass::kRecurrent,
               "lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell "
               "mkldnn_rnn_layer _cudnn_rnn miopen_rnn _lstm_mps _thnn_fused_lstm_cell "
               "_thnn_fused_gru_cell quantized_lstm quantized_gru quantized_lstm_cell "
               "quantized_gru_cell quantized_rnn_relu_cell quantized_rnn_tanh_cell "
               "quantized_lstm_cell_dynamic quantized_gru_cell_dynamic "
               "quantized_rnn_relu_cell_dynamic quantized_rnn_tanh_cell_dynamic"},
    OpClassRow{OpClass::kEmbedding,
               "embedding embedding_bag _embedding_bag _embedding_bag_forward_only "
               "embedding_renorm embedding_byte embedding_4bit embedding_bag_byte "
               "embedding_bag_4bit embedding_bag_byte_rowwise_offsets "
               "embedding_bag_4bit_rowwise_offsets embedding_bag_2bit_rowwise_offsets"},
    OpClassRow{OpClass::kNormalization,
               "batch_norm native_batch_norm _native_batch_norm_legit "
               "_native_batch_norm_legit_functional _native_batch_norm_legit_no_training "
               "_batch_norm_impl_index _batch_norm_no_update _batch_norm_with_update "
               "_batch_norm_with_update_functional cudnn_batch_norm miopen_batch_norm "
               "batch_norm_elemt quantized_batch_norm batch_norm1d batch_norm2d batch_norm3d "
               "batch_norm_relu batch_norm1d_relu batch_norm2d_relu batch_norm3d_relu "
               "qbatch_norm2d layer_norm native_layer_norm group_norm native_group_norm "
               "instance_norm rms_norm _fused_rms_norm renorm"},
    OpClassRow{OpClass::kSoftmax,
               "softmax _softmax log_softmax _log_softmax special_softmax special_log_softmax "
               "_safe_softmax _masked_softmax _sparse_softmax _sparse_log_softmax"},
    OpClassRow{OpClass::kPooling,
               "avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d "
               "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices "
               "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d "
               "_adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
               "fractional_max_pool2d fractional_max_pool3d mkldnn_max_pool2d mkldnn_max_pool3d "
               "mkldnn_adaptive_avg_pool2d quantized_max_pool1d quantized_max_pool2d "
               "quantized_max_pool3d roi_pool ps_roi_pool"},
    OpClassRow{OpClass::kActivation,
               "relu relu6 sigmoid tanh gelu silu mish elu selu celu glu hardtanh hardsigmoid "
               "hardswish hardshrink softshrink softplus leaky_relu prelu _prelu_kernel rrelu "
               "threshold log_sigmoid log_sigmoid_forward special_expit rrelu_with_noise "
               "rrelu_with_noise_functional"},
    OpClassRow{OpClass::kElementwise,
               "add sub subtract rsub mul multiply div divide true_divide floor_divide fmod "
               "remainder pow float_power square sqrt rsqrt reciprocal exp exp2 expm1 log log2 "
               "log10 log1p logaddexp logaddexp2 abs absolute neg negative positive sign sgn "
               "signbit ceil floor round trunc fix frac frexp ldexp sin cos tan asin acos atan "
               "atan2 sinh cosh asinh acosh atanh arcsin arccos arctan arctan2 arcsinh arccosh "
               "arctanh sinc erf erfc erfinv lgamma digamma polygamma mvlgamma igamma igammac i0 "
               "xlogy logit hypot copysign nextafter heaviside gcd lcm deg2rad rad2deg angle "
               "clamp clamp_min clamp_max clip nan_to_num lerp addcmul addcdiv maximum minimum "
               "fmax fmin where masked_fill conj_physical _conj_physical polar complex _add_relu "
               "add_relu add_scalar add_scalar_relu mul_relu mul_scalar mul_scalar_relu qadd "
               "qadd_relu qmul cross linalg_cross kron fake_quantize_per_tensor_affine "
               "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine_cachemask "
               "fake_quantize_per_channel_affine_cachemask "
               "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams _masked_scale "
               "_transform_bias_rescale_qkv cbrt signed_log1p clamp_nan_to_num"},
    OpClassRow{OpClass::kElementwise,
               "eq ne lt le gt ge equal not_equal less less_equal greater greater_equal isclose "
               "isnan isinf isfinite isposinf isneginf isreal logical_and logical_or logical_xor "
               "logical_not bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift "
               "bitwise_right_shift __and__ __or__ __xor__ __iand__ __ior__ __ixor__ __lshift__ "
               "__rshift__ __ilshift__ __irshift__ shift_left shift_right_arithmetic"},
    OpClassRow{OpClass::kElementwise,
               "special_digamma special_entr special_erf special_erfc special_erfcx "
               "special_erfinv special_exp2 special_expm1 special_gammainc special_gammaincc "
               "special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p "
               "special_log_ndtr special_logit special_multigammaln special_ndtr special_ndtri "
               "special_polygamma special_psi special_round special_sinc special_xlog1py "
               "special_xlogy special_zeta special_airy_ai special_bessel_j0 special_bessel_j1 "
               "special_bessel_y0 special_bessel_y1 special_modified_bessel_i0 "
               "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 "
               "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
               "special_spherical_bessel_j0 bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 "
               "bessel_j1 spherical_bessel_j0 erf_inv erfcx ndtri zeta"},
    OpClassRow{OpClass::kReduction,
               "sum nansum mean nanmean prod amax amin aminmax _aminmax max min argmax argmin "
               "all any _is_all_true _is_any_true norm linalg_norm linalg_vector_norm "
               "linalg_matrix_norm linalg__powsum frobenius_norm native_norm norm_except_dim var "
               "std var_mean std_mean logsumexp special_logsumexp count_nonzero cumsum cumprod "
               "cummax cummin _cummax_helper _cummin_helper logcumsumexp _logcumsumexp trace "
               "diff cosine_similarity pairwise_distance cdist _cdist_forward _euclidean_dist "
               "pdist _pdist_forward dist trapz trapezoid cumulative_trapezoid histc bincount "
               "segment_reduce sum_to_size xor_sum _weight_norm _weight_norm_interface allclose "
               "_sparse_sum box_iou_rotated"},
    OpClassRow{OpClass::kReduction,  // losses: elementwise work, then a reduction
               "mse_loss l1_loss smooth_l1_loss huber_loss kl_div cross_entropy_loss nll_loss "
               "nll_loss2d nll_loss_nd nll_loss_forward nll_loss2d_forward binary_cross_entropy "
               "binary_cross_entropy_with_logits soft_margin_loss hinge_embedding_loss "
               "cosine_embedding_loss margin_ranking_loss triplet_margin_loss multi_margin_loss "
               "multilabel_margin_loss multilabel_margin_loss_forward poisson_nll_loss"},
    OpClassRow{OpClass::kInterpolation,
               "upsample_nearest1d upsample_nearest2d upsample_nearest3d "
               "_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d "
               "upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d "
               "_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa "
               "__interpolate __upsample __upsample_bilinear __upsample_nearest grid_sampler "
               "grid_sampler_2d grid_sampler_3d cudnn_grid_sampler _grid_sampler_2d_cpu_fallback "
               "roi_align qroi_align ps_roi_align"},
    OpClassRow{OpClass::kGather,
               "index _unsafe_index _unsafe_masked_index _unsafe_masked_index_put_accumulate "
               "index_put _unsafe_index_put _index_put_impl index_add index_copy index_fill "
               "index_reduce index_select gather scatter scatter_add scatter_reduce "
               "masked_select masked_scatter take take_along_dim nonzero nonzero_numpy "
               "nonzero_static argwhere one_hot select_scatter slice_scatter diagonal_scatter "
               "as_strided_scatter max_unpool2d max_unpool3d put im2col col2im sparse_mask"},
    OpClassRow{OpClass::kSort,
               "sort msort argsort topk kthvalue median nanmedian mode quantile nanquantile "
               "unique_dim unique_consecutive unique_dim_consecutive _unique _unique2 "
               "searchsorted bucketize isin nms qnms"},
    OpClassRow{OpClass::kCreation,
               "zeros zeros_like ones ones_like full full_like empty empty_like empty_permuted "
               "empty_strided empty_quantized new_zeros new_ones new_full new_empty "
               "new_empty_strided _efficientzerotensor _new_zeros_with_same_feature_meta "
               "_empty_affine_quantized _empty_per_channel_affine_quantized arange range "
               "linspace logspace eye scalar_tensor tril_indices triu_indices hann_window "
               "hamming_window blackman_window bartlett_window kaiser_window fft_fftfreq "
               "fft_rfftfreq zero fill fill_diagonal _no_grad_zero _no_grad_fill tensor iota "
               "_dim_arange vander linalg_vander from_file"},
    OpClassRow{OpClass::kRandom,
               "rand rand_like randn randn_like randint randint_like randperm bernoulli "
               "multinomial normal normal_functional uniform exponential geometric cauchy "
               "log_normal poisson binomial random native_dropout _fused_dropout _standard_gamma "
               "_sample_dirichlet _no_grad_normal _no_grad_uniform _philox_normal "
               "_philox_uniform _philox_randint _philox_key_split _philox_key_fold_in "
               "_cudnn_init_dropout_state"},
    OpClassRow{OpClass::kCopy,
               "clone contiguous copy _copy_from _copy_from_and_resize to _to_copy _to_cpu "
               "type_as cpu cuda pin_memory _pin_memory convert_element_type device_put copy_to "
               "_autocast_to_full_precision _autocast_to_reduced_precision _cast_Byte _cast_Char "
               "_cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short chalf lift "
               "lift_fresh_copy cat concat concatenate stack _stack hstack vstack dstack "
               "column_stack row_stack block_diag _chunk_cat cat_relu pad constant_pad_nd "
               "reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
               "replication_pad2d replication_pad3d _pad_circular _pad_enum roll flip fliplr "
               "flipud rot90 rev repeat tile repeat_interleave tril triu diag diag_embed "
               "diagflat combinations cartesian_prod pixel_shuffle pixel_unshuffle "
               "channel_shuffle native_channel_shuffle resize resize_as pad_sequence "
               "_pad_packed_sequence _pack_padded_sequence _pack_sequence _reshape_copy "
               "narrow_copy fft_fftshift fft_ifftshift to_dense to_sparse to_mkldnn _to_dense "
               "_to_sparse flatten_dense_tensors to_padded_tensor _nested_tensor_from_mask "
               "copy_strided collapse _lazy_clone _resize_output"},
    OpClassRow{OpClass::kCopy,  // changes of representation
               "quantize_per_tensor quantize_per_tensor_dynamic quantize_per_channel dequantize "
               "int_repr _make_per_tensor_quantized_tensor _make_per_channel_quantized_tensor "
               "quantize_tensor dequantize_per_tensor dequantize_per_channel quantize_per_token "
               "dequantize_per_token quantize_per_channel_group dequantize_per_channel_group"},
    OpClassRow{OpClass::kView,
               "access_subclass_inner_tensor alias as_strided adjoint broadcast_to "
               "broadcast_tensors broadcast_in_dim chunk "
               "unsafe_chunk conj _conj _neg_view resolve_conj resolve_neg detach diagonal "
               "linalg_diagonal dsplit hsplit vsplit tensor_split split unsafe_split "
               "split_with_sizes unsafe_split_with_sizes expand expand_as flatten unflatten "
               "unflatten_dense_tensors imag real mH mT matrix_H numpy_T moveaxis movedim narrow "
               "permute ravel reshape reshape_as _reshape_alias _mkldnn_reshape "
               "_mkldnn_transpose _unsafe_view select slice slice_inverse squeeze swapaxes "
               "swapdims t transpose unbind unfold unsqueeze view view_as view_as_complex "
               "view_as_real atleast_1d atleast_2d atleast_3d meshgrid indices _indices values "
               "_values crow_indices col_indices ccol_indices row_indices coalesce lift_fresh "
               "data requires_grad _fw_primal _make_dual _unpack_dual _nested_view_from_buffer "
               "_nested_view_from_jagged _nested_get_values split_dim collapse_view view_of "
               "view_of_dtype as_tensor set _shape_as_tensor"},
    OpClassRow{OpClass::kView,  // the identity in eval mode
               "dropout alpha_dropout feature_dropout feature_alpha_dropout"},
    OpClassRow{OpClass::kControl,
               "size sym_size numel sym_numel stride sym_stride storage_offset "
               "sym_storage_offset dim ndim len item _local_scalar_dense device dtype layout "
               "get_device element_size result_type promote_types can_cast is_complex "
               "is_floating_point is_signed is_nonzero is_contiguous sym_is_contiguous "
               "is_same_size is_conj is_neg is_inference is_leaf is_pinned is_coalesced "
               "is_grad_enabled is_autocast_enabled is_autocast_cpu_enabled is_scripting "
               "_is_tracing is_strides_like_format is_non_overlapping_and_dense is_set_to "
               "is_distributed is_vulkan_available retains_grad retain_grad output_nr _version "
               "_assert_async _functional_assert_async _assert_scalar _functional_assert_scalar "
               "_assert_tensor_metadata sym_constrain_range sym_constrain_range_for_size "
               "_functional_sym_constrain_range _functional_sym_constrain_range_for_size sym_ite "
               "sym_max sym_min sym_not sym_float sym_int sym_sqrt sym_sum _make_dep_token "
               "_sym_sqrt _sym_cos _sym_cosh _sym_sin _sym_sinh _sym_tan _sym_tanh _sym_asin "
               "_sym_acos _sym_atan _sym_log2 sym_and sym_or sym_fresh_size "
               "broadcast_shapes _infer_size q_scale q_zero_point q_per_channel_scales "
               "q_per_channel_zero_points q_per_channel_axis qscheme sparse_dim dense_dim _dimI "
               "_dimV _nnz set_grad_enabled get_autocast_dtype manual_seed seed initial_seed "
               "_fused_sdp_choice has_torch_function _debug_has_internal_overlap "
               "cudnn_is_acceptable _nnpack_available _get_tracing_state record_stream wait warn "
               "_print set_data"},
    OpClassRow{OpClass::kControl,  // TorchScript's arithmetic, lists, dicts and strings
               "Bool Complex ComplexImplicit Delete Float FloatImplicit Generator Int "
               "IntImplicit ScalarImplicit Size __contains__ __derive_index __getitem__ __is__ "
               "__isnot__ __not__ __range_length __round_to_zero_floordiv _list_to_tensor "
               "_set_item _size_if_not_equal _tensor_to_list _unwrap_optional append clear count "
               "dict divmod endswith extend find floordiv format get hash insert is_owner items "
               "join keys list ljust lower lstrip mathremainder ord percentFormat pop popitem "
               "remove replace reverse rfind rjust rsplit rstrip setdefault sorted startswith "
               "str strip update upper chr bin hex oct isdigit isalpha isalnum zfill capitalize "
               "title partition rpartition splitlines gamma factorial modf fabs degrees radians "
               "save swapcase rindex center expandtabs islower isupper isspace istitle "
               "isprintable isnumeric isidentifier isdecimal"},
    OpClassRow{OpClass::kControl,  // weight packing: happens once, not per inference
               "linear_prepack linear_prepack_fp16 linear_prepack_legacy "
               "linear_prepack_fp16_legacy linear_unpack linear_unpack_fp16 conv_prepack "
               "conv1d_prepack conv2d_prepack conv3d_prepack conv_transpose1d_prepack "
               "conv_transpose2d_prepack conv_transpose3d_prepack conv_unpack conv1d_unpack "
               "conv2d_unpack conv3d_unpack conv2d_stride conv2d_padding conv2d_dilation "
               "conv2d_groups conv2d_transpose conv2d_output_padding conv3d_stride "
               "conv3d_padding conv3d_dilation conv3d_groups conv3d_transpose "
               "conv3d_output_padding conv2d_unpack_sizes conv_transpose1d_unpack "
               "conv_transpose2d_unpack conv_transpose3d_unpack conv_transpose2d_stride "
               "conv_transpose2d_padding conv_transpose2d_output_padding "
               "conv_transpose2d_dilation conv_transpose2d_groups conv_transpose2d_transpose "
               "conv_transpose3d_stride conv_transpose3d_padding conv_transpose3d_output_padding "
               "conv_transpose3d_dilation conv_transpose3d_groups conv_transpose3d_transpose "
               "qconv_prepack qlinear_prepack make_quantized_cell_params "
               "make_quantized_cell_params_dynamic make_quantized_cell_params_fp16 "
               "embedding_bag_prepack embedding_bag_unpack embedding_bag_byte_prepack "
               "embedding_bag_4bit_prepack embedding_bag_2bit_prepack _wrapped_linear_prepack "
               "fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix "
               "fbgemm_linear_quantize_weight _convert_weight_to_int4pack "
               "_convert_weight_to_int4pack_for_cpu _dyn_quant_pack_4bit_weight "
               "mkldnn_reorder_conv2d_weight mkldnn_reorder_conv3d_weight "
               "_mkl_reorder_linear_weight _reorder_convolution_weight "
               "_reorder_convolution_transpose_weight _reorder_linear_weight "
               "_reorder_mkldnn_rnn_layer_weight _cudnn_rnn_flatten_weight"},
};

}  // namespace detail
TMETER_SDK_END
