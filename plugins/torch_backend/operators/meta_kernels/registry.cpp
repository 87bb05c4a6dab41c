#include "operators/meta_kernels/registry.hpp"

#include <memory>
#include <string>

namespace tmeter::torch_backend {
namespace {

using torch::jit::Stack;

/// Calls a kernel for any form of its operator.
class Adapter final : public c10::OperatorKernel {
 public:
  explicit Adapter(Kernel kernel) : kernel_(kernel) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    const auto& schema = op.schema();
    const auto args = torch::jit::pop(*stack, schema.arguments().size());
    KernelCall call(schema, args);
    kernel_(call);
    give_to_written_arguments(schema, args, call.results());
    for (auto& result : call.results()) stack->push_back(std::move(result));
  }

 private:
  /// In-place and out= forms return the argument they write, resized to the result.
  static void give_to_written_arguments(const c10::FunctionSchema& schema, const Stack& args,
                                        Stack& results) {
    size_t next = 0;
    for (size_t i = 0; i < args.size() && next < results.size(); ++i) {
      const auto* alias = schema.arguments()[i].alias_info();
      if (!alias || !alias->isWrite() || !args[i].isTensor()) continue;
      if (!returns_alias(schema, next)) return;  // writes other arguments too, as batch norm does
      const auto target = args[i].toTensor();
      const auto sizes = results[next].toTensor().sizes();
      if (target.sizes() != sizes) target.resize_(sizes);
      results[next++] = target;
    }
  }

  static bool returns_alias(const c10::FunctionSchema& schema, size_t i) {
    const auto* alias = schema.returns()[i].alias_info();
    return alias && alias->isWrite();
  }

  Kernel kernel_;
};

/// "aten::where.self" → itself, "aten::where_.self", "aten::where.out", "aten::where.self_out".
std::vector<c10::OperatorName> forms(const std::string& op) {
  const auto dot = op.find('.');
  const auto name = op.substr(0, dot);
  const auto overload = dot == std::string::npos ? std::string() : op.substr(dot + 1);
  return {{name, overload}, {name + "_", overload}, {name, "out"}, {name, overload + "_out"}};
}

/// Whether LibTorch decomposes the operator into others, each of which needs a kernel.
bool is_composite(const c10::OperatorHandle& op) {
  using Key = c10::DispatchKey;
  return op.hasKernelForDispatchKey(Key::CompositeImplicitAutograd) ||
         op.hasKernelForDispatchKey(Key::CompositeExplicitAutograd) ||
         op.hasKernelForDispatchKey(Key::CompositeExplicitAutogradNonFunctional);
}

void register_form(torch::Library& library, const c10::OperatorName& form, Kernel kernel) {
  const auto name = form.name.substr(form.name.find("::") + 2);
  const auto full = form.overload_name.empty() ? name : name + "." + form.overload_name;
  library.impl(full.c_str(),
               torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Adapter>(kernel)));
}

void register_entry(torch::Library& library, const KernelEntry& entry) {
  for (const auto& form : forms(entry.op)) {
    const auto op = c10::Dispatcher::singleton().findSchema(form);
    if (!op || op->hasKernelForDispatchKey(c10::DispatchKey::Meta)) continue;
    if (is_composite(*op) && !entry.replaces_stub) continue;
    register_form(library, form, entry.kernel);
  }
}

/// torchvision's operators, as its C++ library declares them (torchvision/csrc/ops/*.cpp).
constexpr const char* kVisionSchemas[] = {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor",
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
    "pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    "roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
    "pooled_width) -> (Tensor, Tensor)",
    "ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
    "pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
    "ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
    "pooled_width) -> (Tensor, Tensor)",
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt "
    "stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, "
    "SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
};

/// Suppresses the warning that a kernel of LibTorch is replaced.
class NoWarnings final : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

}  // namespace

bool KernelCall::has(std::string_view name) const {
  const auto i = schema_.argumentIndexWithName(name);
  return i && !args_[static_cast<size_t>(*i)].isNone();
}

const c10::IValue& KernelCall::value(std::string_view name) const {
  const auto i = schema_.argumentIndexWithName(name);
  TORCH_CHECK(i, "the operator has no argument ", name);
  return args_[static_cast<size_t>(*i)];
}

Dims KernelCall::ints(std::string_view name, size_t count) const {
  auto out = ints(name);
  if (out.size() == 1) out.resize(count, out[0]);
  TORCH_CHECK(out.size() == count, name, " must have ", count, " values, got ", out.size());
  return out;
}

std::optional<at::ScalarType> KernelCall::dtype(std::string_view name) const {
  return has(name) ? std::optional(value(name).toScalarType()) : std::nullopt;
}

at::Tensor same(const at::Tensor& t, at::ScalarType dtype) {
  return at::empty_like(t, t.options().dtype(dtype));
}

at::ScalarType float_type(const at::Tensor& t) {
  return at::isIntegralType(t.scalar_type(), /*includeBool=*/true)
             ? c10::typeMetaToScalarType(at::get_default_dtype())
             : t.scalar_type();
}

int64_t wrap(int64_t dim, int64_t rank) {
  return c10::maybe_wrap_dim(dim, std::max<int64_t>(rank, 1));
}

struct MetaKernels::Registrations {
  Registrations() {
    for (const char* schema : kVisionSchemas) {
      const std::string name(schema, std::string_view(schema).find('('));
      const bool is_declared =
          c10::Dispatcher::singleton().findSchema({"torchvision::" + name, ""}).has_value();
      if (!is_declared) declarations.def(schema);
    }
    for (const auto table : {attention_kernels(), convolution_kernels(), elementwise_kernels(),
                             indexing_kernels(), linear_algebra_kernels(), reduction_kernels()}) {
      for (const auto& entry : table) {
        register_entry(library_of(entry.op), entry);
      }
    }
    register_sparse();
  }

  /// Only the functional forms: out= forms would have to resize the pattern of a sparse argument.
  void register_sparse() {
    NoWarnings none;
    const c10::WarningUtils::WarningHandlerGuard guard(&none);
    for (const auto& entry : sparse_kernels()) {
      const auto form = forms(entry.op).front();
      if (c10::Dispatcher::singleton().findSchema(form)) register_form(sparse, form, entry.kernel);
    }
  }

  torch::Library& library_of(std::string_view op) {
    return op.starts_with("torchvision::") ? vision
           : op.starts_with("quantized::") ? quantized
                                           : aten;
  }

  using Library = torch::Library;
  Library declarations{Library::FRAGMENT, "torchvision", std::nullopt, __FILE__, __LINE__};
  Library vision{Library::IMPL, "torchvision", c10::DispatchKey::Meta, __FILE__, __LINE__};
  Library quantized{Library::IMPL, "quantized", c10::DispatchKey::Meta, __FILE__, __LINE__};
  Library aten{Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__};
  Library sparse{Library::IMPL, "aten", c10::DispatchKey::SparseCsrMeta, __FILE__, __LINE__};
};

MetaKernels::MetaKernels() : registrations_(std::make_unique<Registrations>()) {}
MetaKernels::~MetaKernels() = default;

}  // namespace tmeter::torch_backend
