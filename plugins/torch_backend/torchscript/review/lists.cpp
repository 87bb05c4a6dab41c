#include "torchscript/review/lists.hpp"

#include <array>

namespace tmeter::torch_backend {
namespace {

constexpr std::string_view kFiles = "reads or writes files";
constexpr std::string_view kProcesses = "communicates with other processes";
constexpr std::string_view kPython = "runs Python";
constexpr std::string_view kMemory = "accesses memory without checking bounds";
constexpr std::string_view kUnchecked = "does not check its arguments";
constexpr std::string_view kTraining = "runs a backward pass";
constexpr std::string_view kCompiler = "only LibTorch's optimiser puts into programs";
constexpr std::string_view kProfiler = "belongs to LibTorch's profiler";

constexpr RefusedOperator kRefused[] = {
    {"aten::save", kFiles},
    {"aten::from_file", kFiles},
    {"c10d::*", kProcesses},
    {"_c10d_functional::*", kProcesses},
    {"_c10d_functional_autograd::*", kProcesses},
    {"symm_mem::*", kProcesses},
    {"_dtensor::*", kProcesses},
    {"aten::get_gradients", kProcesses},
    {"prim::rpc_async", kProcesses},
    {"prim::rpc_sync", kProcesses},
    {"prim::rpc_remote", kProcesses},
    {"prim::PythonOp", kPython},
    {"prim::IgnoredPythonOp", kPython},
    // Strides and offsets are not checked, or an address is taken or returned.
    {"aten::set_data", kMemory},
    {"aten::_cudnn_init_dropout_state", kMemory},
    {"aten::_nested_view_from_buffer", kMemory},
    {"aten::_nested_view_from_buffer_copy", kMemory},
    {"aten::_nested_view_from_jagged", kMemory},
    {"aten::_nested_view_from_jagged_copy", kMemory},
    {"aten::_tensor_to_list", kMemory},
    {"inductor::_alloc_from_pool", kMemory},
    {"inductor::_reinterpret_tensor", kMemory},
    {"mkldnn::data_ptr", kMemory},
    {"mkldnn::_get_mkldnn_serialized_md", kMemory},
    {"onnx::Reshape", kMemory},
    {"onnx::Shape", kMemory},
    // These crash instead of reporting an error (tests/torchscript/operator_review.cpp --call), in
    // every LibTorch; no layer calls them.
    {"_quantized::wrapped_fbgemm_linear_fp16_weight", kUnchecked},
    {"aten::_nnpack_spatial_convolution", kUnchecked},
    {"aten::_stack", kUnchecked},
    {"aten::_thnn_differentiable_gru_cell_backward", kUnchecked},
    {"aten::_thnn_differentiable_lstm_cell_backward", kUnchecked},
    {"aten::align_tensors", kUnchecked},
    {"aten::fractional_max_pool2d_backward", kUnchecked},
    {"aten::matrix_exp_backward", kUnchecked},
    {"aten::quantized_lstm_cell", kUnchecked},
    {"aten::reflection_pad1d_backward", kUnchecked},
    {"quantized::embedding_bag_byte_unpack", kUnchecked},
    {"aten::backward", kTraining},
    {"aten::grad", kTraining},
    {"prim::grad", kTraining},
    {"inductor::accumulate_grad_", kTraining},
    {"static_runtime::*", kCompiler},
    {"inductor_prims::*", kCompiler},
    {"prim::AutogradAdd", kCompiler},
    {"prim::AutogradAllNonZero", kCompiler},
    {"prim::AutogradAllZero", kCompiler},
    {"prim::AutogradAnyNonZero", kCompiler},
    {"prim::AutogradZero", kCompiler},
    {"prim::BailOut", kCompiler},
    {"prim::BailoutTemplate", kCompiler},
    {"prim::BroadcastMKLDNNTensors", kCompiler},
    {"prim::ChunkSizes", kCompiler},
    {"prim::ConstantChunk", kCompiler},
    {"prim::ConstantMKLDNNTensor", kCompiler},
    {"prim::CudaFusionGroup", kCompiler},
    {"prim::DifferentiableGraph", kCompiler},
    {"prim::FallbackGraph", kCompiler},
    {"prim::FusedConcat", kCompiler},
    {"prim::FusionGroup", kCompiler},
    {"prim::Guard", kCompiler},
    {"prim::MKLDNNClamp", kCompiler},
    {"prim::MKLDNNClamp_", kCompiler},
    {"prim::MKLDNNHardSigmoid", kCompiler},
    {"prim::MKLDNNHardSigmoid_", kCompiler},
    {"prim::MKLDNNHardSwish", kCompiler},
    {"prim::MKLDNNHardSwish_", kCompiler},
    {"prim::MKLDNNHardTanh", kCompiler},
    {"prim::MKLDNNHardTanh_", kCompiler},
    {"prim::MKLDNNLayerNorm", kCompiler},
    {"prim::MKLDNNLayerNorm_", kCompiler},
    {"prim::MKLDNNScalarMul", kCompiler},
    {"prim::MKLDNNScalarMul_", kCompiler},
    {"prim::MMBatchSide", kCompiler},
    {"prim::MMTreeReduce", kCompiler},
    {"prim::RequiresGradCheck", kCompiler},
    {"prim::StaticRuntimeCopyOuts", kCompiler},
    {"prim::StaticSubgraph", kCompiler},
    {"prim::TensorExprDynamicGroup", kCompiler},
    {"prim::TensorExprDynamicGuard", kCompiler},
    {"prim::TensorExprGroup", kCompiler},
    {"prim::TypeCheck", kCompiler},
    {"prim::VarConcat", kCompiler},
    {"prim::VarStack", kCompiler},
    {"prim::mkldnn_convolution", kCompiler},
    {"prim::oneDNNFusionGroup", kCompiler},
    {"prim::oneDNNFusionGuard", kCompiler},
    {"prim::AddStatValue", kProfiler},
    {"prim::profile", kProfiler},
    {"prim::profile_ivalue", kProfiler},
    {"profiler::_call_end_callbacks_on_jit_fut", kProfiler},
};

constexpr std::string_view kHarmless[] = {
    // They see numbers and dtypes only.
    "aten::can_cast", "aten::promote_types", "aten::result_type", "aten::sym_constrain_range",
    "aten::sym_constrain_range_for_size", "aten::_assert_scalar",
    // Facts about the processor and the build
    "aten::_nnpack_available", "aten::is_vulkan_available", "aten::_use_cudnn_rnn_flatten_weight",
    "mkldnn::_is_mkldnn_acl_supported", "mkldnn::_is_mkldnn_bf16_supported",
    "mkldnn::_is_mkldnn_fp16_supported",
    // Labels for parts of the program; print(), which writes nothing here
    "profiler::_record_function_enter", "profiler::_record_function_enter_new",
    "profiler::_record_function_exit", "aten::_print",
    // The schema's type is "any" for an argument that is a class with weights
    "quantized::conv2d_unpack_sizes", "prepacked::unpack_prepacked_sizes_conv2d",
    "prepacked::unpack_prepacked_sizes_linear"};

constexpr std::string_view kOptions[] = {
    // Names of dims
    "dim", "dim0", "dim1", "dim2", "dims", "names", "order", "out_dim", "outdim", "start_dim",
    "end_dim",
    // One of a few keywords
    "UPLO", "activation", "algorithm", "approximate", "attr", "binary_attr", "binary_post_op",
    "driver", "indexing", "interpolation", "mode", "norm", "ord", "p", "pad_mode", "padding",
    "padding_side", "post_op_algorithm", "post_op_name", "reduce", "rounding_mode", "side",
    "unary_algorithm", "unary_attr", "unary_post_op", "unary_post_op_algorithm",
    // Error messages, and the equation of einsum
    "api_name", "assert_msg", "equation"};

constexpr std::string_view kWeightClasses[] = {
    "__torch__.torch.classes.quantized.", "__torch__.torch.classes.rnn.",
    "__torch__.torch.classes.sparse.", "__torch__.torch.classes.xnnpack.",
    "__torch__.torch.classes.mkldnn."};

}  // namespace

std::span<const RefusedOperator> refused_operators() { return kRefused; }
std::span<const std::string_view> harmless_operators() { return kHarmless; }
std::span<const std::string_view> option_names() { return kOptions; }
std::span<const std::string_view> weight_classes() { return kWeightClasses; }

}  // namespace tmeter::torch_backend
