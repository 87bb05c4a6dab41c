#include "executor/weights.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "operators/arguments.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr size_t kMaxCopiedBuffer = 1 << 20;  // bytes

/// The number of elements from the first to the last that the strides reach.
int64_t storage_extent(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

/// Whether all elements share one, as in a file without weights.
bool is_shared_element(const std::vector<int64_t>& strides, int64_t numel) {
  return numel > 1 && std::all_of(strides.begin(), strides.end(), [](auto s) { return s == 0; });
}

bool is_variance(std::string_view name) { return name.ends_with("running_var"); }

/// Fills with values that neither vanish nor explode over many layers: weights are normal with a
/// deviation by fan-in, scales and variances are near 1.
void fill(at::Tensor& t, std::string_view name, const at::Generator& generator) {
  if (t.scalar_type() == at::kBool) {
    t.fill_(true);
  } else if (at::isIntegralType(t.scalar_type(), /*includeBool=*/false)) {
    t.zero_();
  } else if (t.dim() >= 2) {
    const auto fan_in =
        static_cast<double>(std::max<int64_t>(t.numel() / std::max<int64_t>(t.size(0), 1), 1));
    t.normal_(0, 1 / std::sqrt(fan_in), generator);
  } else if (is_variance(name) || name.ends_with("weight")) {
    t.uniform_(0.5, 1.5, generator);
  } else {
    t.normal_(0, 0.02, generator);
  }
}

}  // namespace

at::ScalarType scalar_type_of(DType dtype, std::string_view of_what) {
  const auto type = static_cast<at::ScalarType>(dtype.id());
  const auto refuse = [&](const std::string& what) {
    throw Error(TMETER_CANNOT_RUN, std::string(of_what) + " " + what);
  };
  if (!dtype.known() || dtype.id() >= static_cast<int32_t>(at::ScalarType::NumOptions))
    refuse("is of a type that this LibTorch does not have");
  if (at::isQIntType(type))
    refuse("is quantized (" + std::string(dtype.name()) + "); tmeter does not run such tensors");
  return type;
}

at::Tensor Weights::of(const Tensor& tensor, bool mutated) {
  auto& made = made_[tensor.canonical().handle()];
  if (made.defined()) return made;
  // Trainable tensors outside of inference mode, as in PyTorch: at::matmul takes another path for
  // inference tensors, and its last bits differ.
  const c10::InferenceMode as_pytorch_reads(false);
  made = make(tensor.canonical(), mutated);
  const bool differentiable = made.is_floating_point() || made.is_complex();
  if (tensor.canonical().trainable() && differentiable && !made.is_inference())
    made.set_requires_grad(true);
  return made;
}

at::Tensor Weights::make(const Tensor& tensor, bool mutated) {
  const auto type = scalar_type_of(tensor.dtype(), tensor.name());
  const auto sizes = vector_of(tensor.shape()), strides = vector_of(tensor.strides());
  const auto options = at::dtype(type).device(at::kCPU);
  const auto stored = state_.constants.find(tensor.name());
  if (stored != state_.constants.end() && stored->second.sizes() == sizes &&
      stored->second.scalar_type() == type)
    return stored->second.to(device_);
  const auto bytes = call_.weights(tensor);
  const auto numel = tensor.numel().value();
  if (!bytes.ptr || numel == 0 || is_shared_element(strides, numel)) {
    random_ += numel != 0;
    return generated_tensor(tensor, type).to(device_);
  }
  const auto item = c10::elementSize(type);
  const auto extent = storage_extent(sizes, strides);
  if (static_cast<uint64_t>(extent) > bytes.len / item)
    throw Error(TMETER_BAD_MODEL, std::string(tensor.name()) + " reaches beyond its bytes");
  auto* const begin = const_cast<void*>(static_cast<const void*>(bytes.ptr));
  // The file is mapped read-only. Some operators change buffers although their schema does not say
  // so (batch norm in training), so small buffers are copied.
  const bool small_buffer = !tensor.is_parameter() && bytes.len <= kMaxCopiedBuffer;
  if (!mutated && !small_buffer && reinterpret_cast<uintptr_t>(begin) % item == 0)
    return at::from_blob(begin, sizes, strides, options).to(device_);
  auto flat = at::empty({extent}, options);
  std::memcpy(flat.mutable_data_ptr(), begin, flat.nbytes());
  return flat.as_strided(sizes, strides).to(device_);
}

at::Tensor Weights::generated_tensor(const Tensor& tensor, at::ScalarType type) const {
  const auto generator = at::detail::createCPUGenerator(seed_ + tensor.index());
  // float8 has no random number generator: values are drawn as float32.
  const bool small = c10::isFloat8Type(type);
  const auto options = at::dtype(small ? at::kFloat : type);
  auto out = at::empty(vector_of(tensor.shape()), options);
  if (out.numel() > 0) fill(out, tensor.name(), generator);
  return small ? out.to(type) : out;
}

std::string Weights::described() const {
  const auto random = "random, seed " + std::to_string(seed_);
  if (random_ == 0) return "of the file";
  if (random_ == made_.size()) return random;
  return "of the file; " + std::to_string(random_) + " of " + std::to_string(made_.size()) +
         " tensors " + random;
}

namespace {

class Aliases {
 public:
  void follow(const Node& node, const c10::FunctionSchema& schema) {
    std::vector<const tmeter_tensor*> viewed;
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      const auto* alias = schema.arguments()[i].alias_info();
      if (!alias) continue;
      for_each_tensor_value(argument_of(node, schema, i), [&](const Value& v) {
        const auto* tensor = of(v);
        if (!tensor) return;
        viewed.push_back(tensor);
        if (alias->isWrite()) written.insert(tensor);
      });
    }
    if (viewed.empty()) return;
    for (size_t i = 0; i < node.result_count(); ++i) {
      for_each_tensor_value(
          node.result(i), [&](const Value& v) { viewed_by_.emplace(v.handle(), viewed.front()); });
    }
  }

  std::unordered_set<const tmeter_tensor*> written;

 private:
  /// The parameter, buffer or constant that the value is or views.
  const tmeter_tensor* of(const Value& value) const {
    if (const auto tensor = value.tensor()) return tensor.canonical().handle();
    const auto it = viewed_by_.find(value.handle());
    return it == viewed_by_.end() ? nullptr : it->second;
  }

  std::unordered_map<const tmeter_value*, const tmeter_tensor*> viewed_by_;
};

}  // namespace

std::unordered_set<const tmeter_tensor*> mutated_tensors(
    const Graph& graph, const std::vector<std::optional<c10::OperatorHandle>>& operators) {
  Aliases aliases;
  for (const auto& node : graph.nodes()) {
    if (const auto& op = operators[node.index()]) aliases.follow(node, op->schema());
  }
  return std::move(aliases.written);
}

}  // namespace tmeter::torch_backend
