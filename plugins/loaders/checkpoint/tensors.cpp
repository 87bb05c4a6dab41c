#include "tensors.hpp"

#include <algorithm>
#include <array>

#include "../common/bad_file.hpp"
#include "dtypes.hpp"

namespace checkpoint {
namespace {

using loading::BadFile;
using loading::in_quotes;

constexpr size_t kMaxRank = 64;
constexpr size_t kMaxNesting = 16;       // a parameter of a subclass of a wrapper of …
constexpr size_t kMaxParts = 1'000'000;  // limit for all tensors

std::vector<int64_t> sizes(const Value& value, const char* what) {
  if (!value.is(Kind::kTuple) && !value.is(Kind::kList))
    throw BadFile(std::string("its ") + what + " is not a tuple");
  if (value.list().size() > kMaxRank)
    throw BadFile("it has rank " + std::to_string(value.list().size()) +
                  "; at most 64 is accepted");
  std::vector<int64_t> out;
  for (const auto* item : value.list()) {
    if (!item->is(Kind::kInt))
      throw BadFile(std::string("its ") + what + " is not made of integers");
    if (item->integer < 0)
      throw BadFile(std::string("its ") + what + " holds the negative " +
                    std::to_string(item->integer));
    out.push_back(item->integer);
  }
  return out;
}

/// Bytes of storage the elements reach into; INT64_MAX when that exceeds 63 bits.
int64_t reach(const Tensor& t) {
  int64_t last = t.storage_offset, bytes = 0;
  for (size_t i = 0; i < t.dims.size(); ++i) {
    int64_t step = 0;
    if (t.dims[i] == 0) return 0;
    if (__builtin_mul_overflow(t.dims[i] - 1, t.strides[i], &step) ||
        __builtin_add_overflow(last, step, &last))
      return INT64_MAX;
  }
  if (__builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, t.dtype.bytes(), &bytes))
    return INT64_MAX;
  return bytes;
}

void check_storage(const Tensor& t) {
  if (t.storage && reach(t) > t.storage->bytes)
    throw BadFile("its elements reach beyond its storage " + in_quotes(t.storage->key) + " of " +
                  std::to_string(t.storage->bytes) + " bytes");
}

/// The length in bytes, which protocol 2 writes as a text encoded in Latin-1. -1 for other values.
int64_t bytes_in(const Value& v) {
  if (v.is(Kind::kBytes)) return static_cast<int64_t>(v.text.size());
  if (!v.is_object_of("_codecs.encode") || v.items->arguments->list().empty()) return -1;
  const auto& text = *v.items->arguments->list().front();
  if (!text.is(Kind::kText)) return -1;
  return std::count_if(text.text.begin(), text.text.end(),
                       [](char c) { return (c & 0xc0) != 0x80; });
}

/// The bytes of a NumPy array, the last of its state, hold its elements, of 1 to 16 bytes each.
void require_bytes_of(const Tensor& t, const Value& state) {
  constexpr int64_t kMaxElementBytes = 16;
  const auto bytes = state.list().size() < 5 ? -1 : bytes_in(*state.list()[4]);
  if (bytes < 0) return;
  int64_t elements = 1;
  for (const auto d : t.dims)
    if (__builtin_mul_overflow(elements, d, &elements)) elements = INT64_MAX;
  const bool fits = elements == 0 ? bytes == 0
                                  : bytes % elements == 0 && bytes / elements >= 1 &&
                                        bytes / elements <= kMaxElementBytes;
  if (!fits)
    throw BadFile("its shape has " + std::to_string(elements) + " elements, its array " +
                  std::to_string(bytes) + " bytes");
}

/// The dict of an object's attributes, which may come with a second one for slots.
const Value* attributes(const Value* state) {
  if (state && state->is(Kind::kTuple) && !state->list().empty()) state = state->list().front();
  return state && state->is(Kind::kDict) ? state : nullptr;
}

}  // namespace

/// A call of a _rebuild_… function and the receiver of the tensor.
struct Tensors::Call {
  std::string_view function;
  const std::vector<const Value*>& arguments;
  const std::string& name;
  const Visit& visit;
  const Value* state = nullptr;  // attributes of a subclass
  bool is_parameter = false, requires_grad = false;
  size_t depth = 0;

  const Value& at(size_t i) const {
    if (i >= arguments.size())
      throw BadFile(std::string(function) + " has too few arguments (" +
                    std::to_string(arguments.size()) + ")");
    return *arguments[i];
  }
  const Value& at(size_t i, Kind kind) const {
    const auto& value = at(i);
    if (!value.is(kind))
      throw BadFile("argument " + std::to_string(i + 1) + " of " + std::string(function) +
                    " has the wrong type");
    return value;
  }
  bool flag(size_t i) const { return at(i, Kind::kBool).integer != 0; }
};

struct Tensors::Function {
  std::string_view name;
  void (Tensors::*read)(const Call&);
};

const Tensors::Function* Tensors::find(std::string_view global) {
  static constexpr Function kFunctions[] = {
      {"torch._utils._rebuild_tensor", &Tensors::plain},
      {"torch._utils._rebuild_tensor_v2", &Tensors::plain},
      {"torch._utils._rebuild_tensor_v3", &Tensors::with_dtype},
      {"torch._utils._rebuild_qtensor", &Tensors::quantized},
      {"torch._utils._rebuild_parameter", &Tensors::parameter},
      {"torch._utils._rebuild_parameter_with_state", &Tensors::parameter},
      {"torch._utils._rebuild_meta_tensor_no_storage", &Tensors::without_storage},
      {"torch._utils._rebuild_wrapper_subclass", &Tensors::wrapper},
      {"torch._utils._rebuild_sparse_tensor", &Tensors::sparse},
      {"torch._utils._rebuild_sparse_csr_tensor", &Tensors::sparse},
      {"torch._utils._rebuild_nested_tensor", &Tensors::nested},
      {"torch._utils._rebuild_device_tensor_from_cpu_tensor", &Tensors::from_cpu_tensor},
      {"torch._utils._rebuild_device_tensor_from_numpy", &Tensors::from_array},
      {"torch._utils._rebuild_xla_tensor", &Tensors::from_array},
      {"torch._tensor._rebuild_from_type", &Tensors::from_type},
      {"torch._tensor._rebuild_from_type_v2", &Tensors::from_type},
      {"torch.tensor._rebuild_from_type", &Tensors::from_type},
      {"torch.tensor._rebuild_from_type_v2", &Tensors::from_type},
      {"torch.nn.parameter.Parameter", &Tensors::old_parameter},
      {"torch.nn.parameter.Buffer", &Tensors::old_parameter},
      {"torch.autograd.variable.Variable", &Tensors::old_parameter},
  };
  for (const auto& f : kFunctions)
    if (f.name == global) return &f;
  return nullptr;
}

bool Tensors::is_tensor(const Value& value) {
  return value.is(Kind::kObject) && find(value.items->callable->text) != nullptr;
}

void Tensors::read(const Value& value, const std::string& name, const Visit& visit) {
  loading::within([&] { return "tensor " + in_quotes(name); },
                  [&] {
                    read_call({value.items->callable->text, value.items->arguments->list(), name,
                               visit, value.items->state});
                  });
}

void Tensors::read_call(const Call& call) {
  const auto* function = find(call.function);
  if (!function)
    throw BadFile("it is made by " + in_quotes(call.function) + ", which makes no tensor");
  if (call.depth > kMaxNesting) throw BadFile("it is nested more than 16 deep");
  (this->*function->read)(call);
}

void Tensors::emit(const Call& call, const Tensor& tensor) const {
  auto t = tensor;
  t.is_parameter = call.is_parameter;
  t.requires_grad = call.is_parameter ? call.requires_grad : tensor.requires_grad;
  call.visit(call.name, t);
}

/// (storage, offset, size, stride, …), as four functions begin.
Tensor Tensors::described(const Call& call) const {
  Tensor t;
  t.storage = storages_.find(call.at(0, Kind::kStorage));
  t.dtype = t.storage->dtype;
  t.storage_offset = call.at(1, Kind::kInt).integer;
  t.dims = sizes(call.at(2), "shape");
  t.strides = sizes(call.at(3), "strides");
  if (t.storage_offset < 0) throw BadFile("its storage offset is negative");
  if (t.dims.size() != t.strides.size())
    throw BadFile("it has a different number of sizes and strides");
  return t;
}

/// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks, metadata)
void Tensors::plain(const Call& call) {
  auto t = described(call);
  t.requires_grad = call.arguments.size() > 4 && call.flag(4);
  check_storage(t);
  emit(call, t);
}

/// _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata)
void Tensors::with_dtype(const Call& call) {
  auto t = described(call);
  t.requires_grad = call.flag(4);
  t.dtype = dtype_named(call.at(6, Kind::kGlobal).text);
  check_storage(t);
  emit(call, t);
}

/// _rebuild_qtensor(storage, offset, size, stride, quantizer, requires_grad, hooks)
void Tensors::quantized(const Call& call) {
  auto t = described(call);
  t.requires_grad = call.flag(5);
  check_storage(t);
  emit(call, t);
}

/// _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad)
void Tensors::without_storage(const Call& call) {
  Tensor t;
  t.dtype = dtype_named(call.at(0, Kind::kGlobal).text);
  t.dims = sizes(call.at(1), "shape");
  t.strides = sizes(call.at(2), "strides");
  t.requires_grad = call.flag(3);
  emit(call, t);
}

/// _rebuild_parameter(data, requires_grad, hooks[, state])
void Tensors::parameter(const Call& call) {
  const auto& data = call.at(0, Kind::kObject);
  read_call({data.items->callable->text, data.items->arguments->list(), call.name, call.visit,
             data.items->state, true, call.flag(1), call.depth + 1});
}

/// torch 0.3 and older: Parameter(data) with the state (requires_grad, volatile, hooks).
void Tensors::old_parameter(const Call& call) {
  const auto& data = call.at(0, Kind::kObject);
  const bool has_state = call.state && call.state->is(Kind::kTuple) &&
                         !call.state->list().empty() && call.state->list()[0]->is(Kind::kBool);
  const bool trained = !has_state || call.state->list()[0]->integer != 0;
  read_call({data.items->callable->text, data.items->arguments->list(), call.name, call.visit,
             data.items->state, call.function == "torch.nn.parameter.Parameter", trained,
             call.depth + 1});
}

/// _rebuild_from_type_v2(function, type, arguments, state): a subclass of Tensor.
void Tensors::from_type(const Call& call) {
  const auto& function = call.at(0, Kind::kGlobal);
  const auto& arguments = call.at(2, Kind::kTuple);
  read_call({function.text, arguments.list(), call.name, call.visit, &call.at(3), call.is_parameter,
             call.requires_grad, call.depth + 1});
}

void Tensors::read_part(const Call& call, const Value* value, std::string_view part) {
  if (!value || !is_tensor(*value)) return;
  if (++parts_ > kMaxParts) throw BadFile("tensors are made of more than 1,000,000 parts");
  const auto name = call.name + "." + std::string(part);
  read_call({value->items->callable->text, value->items->arguments->list(), name, call.visit,
             value->items->state, call.is_parameter, false, call.depth + 1});
}

/// _rebuild_wrapper_subclass(class, dtype, size, stride, offset, layout, device, requires_grad): a
/// tensor without memory around those among its attributes.
void Tensors::wrapper(const Call& call) {
  const auto& type = call.at(0, Kind::kGlobal);
  const auto before = parts_;
  if (const auto* own = attributes(call.state)) {
    for (const auto& [key, value] : own->items->pairs)
      if (key->is(Kind::kText)) read_part(call, value, key->text);
  }
  if (parts_ > before) {
    in_parts_.push_back(in_quotes(call.name) + " (" + loading::shown(type.text) + ")");
    return;
  }
  Tensor t;
  t.dtype = dtype_named(call.at(1, Kind::kGlobal).text);
  t.dims = sizes(call.at(2), "shape");
  t.strides = sizes(call.at(3), "strides");
  t.requires_grad = call.flag(7);
  emit(call, t);
}

/// _rebuild_sparse_tensor(layout, (indices, values, size, …)) or (crow, col, values, size)
void Tensors::sparse(const Call& call) {
  const auto& data = call.at(1, Kind::kTuple).list();
  const bool coo =
      data.size() >= 3 && Tensors::is_tensor(*data[0]) && !Tensors::is_tensor(*data[2]);
  constexpr std::array<std::string_view, 2> kCoo{"indices", "values"};
  constexpr std::array<std::string_view, 3> kCompressed{"compressed_indices", "plain_indices",
                                                        "values"};
  const size_t count = coo ? kCoo.size() : kCompressed.size();
  if (data.size() < count) throw BadFile("a sparse tensor lacks parts");
  for (size_t i = 0; i < count; ++i) {
    if (!is_tensor(*data[i])) throw BadFile("a part of a sparse tensor is not a tensor");
    read_part(call, data[i], coo ? kCoo[i] : kCompressed[i]);
  }
  in_parts_.push_back(in_quotes(call.name) + " (sparse)");
}

/// _rebuild_nested_tensor(buffer, sizes, strides, offsets)
void Tensors::nested(const Call& call) {
  if (!is_tensor(call.at(0))) throw BadFile("the buffer of a nested tensor is not a tensor");
  read_part(call, &call.at(0), "values");
  in_parts_.push_back(in_quotes(call.name) + " (nested)");
}

/// _rebuild_device_tensor_from_cpu_tensor(data, dtype, device, requires_grad)
void Tensors::from_cpu_tensor(const Call& call) {
  const auto& data = call.at(0, Kind::kObject);
  read_call({data.items->callable->text, data.items->arguments->list(), call.name, call.visit,
             data.items->state, call.is_parameter, call.requires_grad, call.depth + 1});
}

/// _rebuild_device_tensor_from_numpy(array, dtype, device, requires_grad): named and counted; its
/// bytes are a text inside the pickle. An array's state is (version, shape, dtype, order, bytes).
void Tensors::from_array(const Call& call) {
  const auto* state = call.at(0, Kind::kObject).items->state;
  if (!state || !state->is(Kind::kTuple) || state->list().size() < 2)
    throw BadFile("it is made of an array without a shape");
  Tensor t;
  t.dtype = dtype_named(call.at(1, Kind::kGlobal).text);
  t.dims = sizes(*state->list()[1], "shape");
  t.strides.assign(t.dims.size(), 1);
  for (size_t i = t.dims.size(); i-- > 1;)
    if (__builtin_mul_overflow(t.strides[i], std::max<int64_t>(t.dims[i], 1), &t.strides[i - 1]))
      throw BadFile("it has an impossible shape");
  require_bytes_of(t, *state);
  t.requires_grad = call.flag(3);
  emit(call, t);
}

namespace {

constexpr size_t kMaxMetadataBytes = 64;  // a digest, a date, a random seed

bool is_weight(const Value& v) {
  return v.is(Kind::kStorage) || Tensors::is_tensor(v) ||
         (v.is(Kind::kBytes) && v.text.size() > kMaxMetadataBytes);
}

bool has_items(const Value& v) { return v.kind >= Kind::kList && !v.is(Kind::kGlobal); }

}  // namespace

void refuse_placeholder(const Value& placeholder, const std::string& what) {
  throw loading::BadFile(
      what + " is the result of calling " + loading::shown(placeholder.items->callable->text) +
          " (byte " + std::to_string(placeholder.at) +
          "), which tmeter does not do: its number of parameters is unknown",
      "if you trust the author of the file, load it in Python and save only its state_dict()");
}

bool HiddenWeights::in(const Value& object) {
  std::vector<const Value*> waiting{&object};
  const auto look = [&](const Value* v) {
    if (v && (has_items(*v) || is_weight(*v))) waiting.push_back(v);
  };
  while (!waiting.empty()) {
    const auto& v = *waiting.back();
    waiting.pop_back();
    if (is_weight(v)) return true;
    if (!seen_.insert(&v).second) continue;
    const auto& items = *v.items;
    look(items.arguments);
    look(items.state);
    for (const auto* item : items.list) look(item);
    for (const auto& [key, item] : items.pairs) look(item);
  }
  return false;
}

}  // namespace checkpoint
