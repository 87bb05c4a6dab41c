#include "torchscript/run/recorder.hpp"

#include <algorithm>

#include "operators/evaluator.hpp"
#include "operators/limits.hpp"
#include "operators/quantized.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr size_t kMaxListDepth = 64;  // the graph's limit
constexpr uint64_t kUnitsPerItem = 20;

std::vector<tmeter_dim> dims_of(const at::Tensor& t) {
  std::vector<tmeter_dim> out;
  for (const auto d : t.sizes()) out.push_back(GraphBuilder::dim(d));
  return out;
}

DType dtype_of(const at::Tensor& t) { return DType(static_cast<int32_t>(t.scalar_type())); }

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

bool Values::is_number(const at::Tensor& t) const {
  return t.defined() && t.dim() == 0 && !t.is_meta() &&
         !tensors_.contains(t.unsafeGetTensorImpl()) &&
         !tree_.tensors.contains(t.unsafeGetTensorImpl());
}

template <class F>
Values::Id Values::list(const c10::IValue& value, const F& each) {
  if (++depth_ > kMaxListDepth) {
    depth_ = 0;
    throw Error(TMETER_CANNOT_RUN, "the model makes values that are nested more than " +
                                       std::to_string(kMaxListDepth) + " deep");
  }
  std::vector<Id> ids;
  const auto f = [&](const c10::IValue& item) {
    if (auto* limits = Limits::current()) limits->spend(kUnitsPerItem);
    return each(item);
  };
  if (value.isTuple()) {
    for (const auto& item : value.toTupleRef().elements()) ids.push_back(f(item));
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) ids.push_back(f(entry.value()));
  } else if (value.isTensorList()) {
    for (const at::Tensor& t : value.toTensorList()) ids.push_back(f(t));
  } else {
    const auto items = value.toList();
    for (size_t i = 0; i < items.size(); ++i) ids.push_back(f(items.get(i)));
  }
  --depth_;
  return builder_.list(ids);
}

Values::Id Values::use(const c10::IValue& value, ArgKind kind) {
  if (value.isTensor()) return use_tensor(value.toTensor());
  if (value.isInt()) return use_int(value.toInt(), kind);
  if (value.isDouble()) return builder_.real(value.toDouble());
  if (value.isBool()) return builder_.boolean(value.toBool());
  if (value.isString()) return builder_.text(value.toStringRef());
  if (value.isNone()) return builder_.none();
  if (value.isDevice()) return builder_.other(value.toDevice().str());
  if (value.isScalar()) return number(value.toScalar());
  if (value.isTuple() || value.isList() || value.isGenericDict()) {
    return list(value, [&](const c10::IValue& item) { return use(item); });
  }
  if (const auto weights = packed(value)) {
    std::vector<Id> fields{use_tensor(weights->weight)};
    if (weights->bias.defined()) fields.push_back(use_tensor(weights->bias));
    return builder_.list(fields);
  }
  return builder_.other(value.tagKind());
}

Values::Id Values::define(const c10::IValue& value) {
  if (value.isTensor()) return define_tensor(value.toTensor());
  if (value.isTuple() || value.isList() || value.isGenericDict()) {
    return list(value, [&](const c10::IValue& item) { return define(item); });
  }
  return use(value);
}

Values::Id Values::use_tensor(const at::Tensor& t) {
  if (!t.defined()) return builder_.none();
  if (const auto it = tensors_.find(t.unsafeGetTensorImpl()); it != tensors_.end())
    return it->second;
  if (is_number(t)) return number(t);
  const auto bound = tree_.tensors.find(t.unsafeGetTensorImpl());
  const Id tensor = bound != tree_.tensors.end() ? bound->second : constant(t);
  keep(t);
  return tensors_[t.unsafeGetTensorImpl()] = builder_.bound(tensor);
}

Values::Id Values::define_tensor(const at::Tensor& t) {
  if (!t.defined()) return builder_.none();
  keep(t);
  return tensors_[t.unsafeGetTensorImpl()] = builder_.tensor_value(dtype_of(t), dims_of(t));
}

/// A tensor of the program text, which is neither parameter nor buffer.
Values::Id Values::constant(const at::Tensor& t) {
  const auto* record = StorageTable::of(t);
  const auto name = "constants." + std::to_string(constants_++);
  if (!t.is_meta()) state_.constants[name] = t.clone();
  tmeter_tensor_desc d{};
  d.kind = TMETER_TENSOR_CONSTANT;
  d.name = to_abi(name);
  d.owner = tree_.root;
  d.dtype = dtype_of(t).id();
  d.dims = t.sizes().data();
  d.strides = t.strides().data();
  d.rank = t.sizes().size();
  d.storage_key = to_abi(record ? std::string_view(record->name) : std::string_view(name));
  d.storage_offset = t.storage_offset();
  d.file_offset = record && record->entry.stored ? static_cast<int64_t>(record->entry.offset) : -1;
  d.storage_bytes = record ? static_cast<int64_t>(record->entry.size) : 0;
  return builder_.tensor(d);
}

Values::Id Values::number(const at::Tensor& t) { return number(t.item()); }

Values::Id Values::number(const at::Scalar& s) {
  if (s.isBoolean()) return builder_.boolean(s.toBool());
  if (s.isIntegral(/*includeBool=*/false)) return builder_.integer(s.toLong());
  if (s.isFloatingPoint()) return builder_.real(s.toDouble());
  return builder_.other(printed(s));
}

Values::Id Values::use_int(int64_t value, ArgKind kind) {
  switch (kind) {
    case ArgKind::kDtype:
      return builder_.dtype(DType(static_cast<int32_t>(value)));
    case ArgKind::kLayout:
      return builder_.other(printed(static_cast<at::Layout>(value)));
    case ArgKind::kMemoryFormat:
      return builder_.other(printed(static_cast<at::MemoryFormat>(value)));
    default:
      return builder_.integer(value);
  }
}

namespace {

/// A program fills a tensor right after its creation, so few are unfilled at a time.
constexpr size_t kMaxUnfilled = 64;

}  // namespace

// Traces compute sizes in tensors too: x.size(0) // 2 becomes operators on scalar tensors. A node
// needs a result, or an argument it writes into, that is more than a number made from numbers.
bool Recorder::computes_tensors(const OperatorInfo& op, const torch::jit::Stack& args,
                                c10::ArrayRef<c10::IValue> results) const {
  bool any = false, only_numbers = true, has_argument = false;
  for (const auto& r : results) {
    for_each_tensor(r, [&](const at::Tensor& t) {
      any = true;
      only_numbers = only_numbers && t.dim() == 0 && !t.is_meta();
    });
  }
  for (size_t i = 0; i < args.size(); ++i) {
    for_each_tensor(args[i], [&](const at::Tensor& t) {
      has_argument = true;
      any = any || op.args[i].written;
      only_numbers = only_numbers && values_.is_number(t);
    });
  }
  return any && !(only_numbers && has_argument);
}

void Recorder::node(const OperatorInfo& op, const torch::jit::Stack& args,
                    c10::ArrayRef<c10::IValue> results, GraphBuilder::Id module_call) {
  if (!computes_tensors(op, args, results)) return;
  std::vector<tmeter_arg> arguments;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].isNone()) continue;
    if (!unfilled_.empty() && !op.args[i].written)
      for_each_tensor(args[i], [this](const at::Tensor& t) { keep_filled(t); });
    arguments.push_back(GraphBuilder::arg(op.args[i].name, values_.use(args[i], op.args[i].kind)));
  }
  std::vector<GraphBuilder::Id> made;
  for (const auto& r : results) made.push_back(values_.define(r));
  if (op.uninitialised && results[0].isTensor() && !results[0].toTensor().is_meta())
    unfilled_.emplace_back(results[0].toTensor(), nodes_);
  if (unfilled_.size() > kMaxUnfilled) unfilled_.erase(unfilled_.begin());
  ++nodes_;
  builder_.node(op.name, op.overload, module_call, arguments, made);
}

/// Keeps the contents of an uninitialised tensor before its first reader: no operator wrote them.
void Recorder::keep_filled(const at::Tensor& tensor) {
  const auto it =
      std::ranges::find_if(unfilled_, [&](const auto& u) { return u.first.is_same(tensor); });
  if (it == unfilled_.end()) return;
  if (!tensor.is_meta()) state_.filled[it->second] = tensor.clone();
  unfilled_.erase(it);
}

void Recorder::output(const c10::IValue& value) {
  if (value.isNone()) return;
  if (auto* limits = Limits::current())
    limits->spend(100);  // tuples may share items, so the walk can be long
  if (value.isTuple()) {
    for (const auto& item : value.toTupleRef().elements()) output(item);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) output(entry.value());
  } else {
    builder_.output(values_.use(value));
  }
}

void Recorder::note_query(const std::string& what) {
  if (!warned_.insert(what).second) return;
  builder_.property("assumed", what);
  call_.warn(what);
}

void Recorder::assumed(Assumption assumption, const OperatorInfo& op, const std::string& path) {
  if (assumption == Assumption::kNone || !warned_.insert(op.full_name()).second) return;
  const auto place = op.full_name() + (path.empty() ? "" : " in " + path);
  builder_.property("assumed", place);
  switch (assumption) {
    case Assumption::kLargest:
      return call_.warn("the size of the result of " + place +
                        " depends on data; the largest possible one was used");
    case Assumption::kOneValue:
      return call_.warn("the number of distinct values in " + place +
                        " depends on data; one was assumed");
    case Assumption::kZeros:
      return call_.warn(place + " has no implementation here; its result is assumed to be zero");
    default:
      return call_.warn("the value " + place +
                        " reads depends on data and sets sizes; 1 was assumed");
  }
}

}  // namespace tmeter::torch_backend
