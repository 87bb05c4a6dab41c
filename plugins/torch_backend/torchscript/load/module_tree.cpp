#include "torchscript/load/module_tree.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "operators/quantized.hpp"
#include "torchscript/load/names.hpp"

namespace tmeter::torch_backend {
namespace {

using Id = GraphBuilder::Id;

/// Whether a buffer may control the program (counters, lengths).
constexpr int64_t kMaxBufferNumel = 64;
constexpr size_t kMaxAttributeItems = 16;

bool may_control(const at::Tensor& t) {
  if (t.numel() == 1) return !at::isQIntType(t.scalar_type());  // scales of quantization included
  return t.numel() <= kMaxBufferNumel && at::isIntegralType(t.scalar_type(), /*includeBool=*/true);
}

/// A weightless file may store one element for all tensors, which does not tie them.
bool expanded(const at::Tensor& t) {
  const auto strides = t.strides();
  return t.numel() > 1 &&
         std::all_of(strides.begin(), strides.end(), [](auto s) { return s == 0; });
}

class Pusher {
 public:
  Pusher(const ModelFile& file, GraphBuilder& builder) : file_(file), builder_(builder) {}

  ModuleTree run() {
    const auto& root = file_.root();
    tree_.root = builder_.module(0, "", plain_type_name(*root.type()));
    push(*root._ivalue(), tree_.root, "");
    return std::move(tree_);
  }

 private:
  void push(c10::ivalue::Object& object, Id id, const std::string& path) {
    tree_.modules.emplace(&object, ModuleTree::Place{id, path});
    const auto type = object.type();
    for (size_t i = 0; i < type->numAttributes(); ++i) {
      const auto& name = type->getAttributeName(i);
      if (name == "training") object.setSlot(i, false);
      const auto& value = object.getSlot(i);
      if (value.isTensor() && value.toTensor().defined()) {
        push_tensor(object, i, id, path);
      } else if (const auto weights = packed(value)) {
        push_packed(*weights, joined(path, name), id);
      } else {
        push_attribute(id, name, value);
      }
    }
    for (size_t i = 0; i < type->numConstants(); ++i) {
      push_attribute(id, type->getConstantName(i), type->getConstant(i));
    }
    for (size_t i = 0; i < type->numAttributes(); ++i) {
      if (object.getSlot(i).isModule()) push_child(object, i, id, path);
    }
  }

  /// A module registered twice is one module with its first name, as in named_modules().
  void push_child(const c10::ivalue::Object& object, size_t slot, Id parent,
                  const std::string& path) {
    const auto child = object.getSlot(slot).toObject();
    if (tree_.modules.contains(child.get())) return;
    const auto& name = object.type()->getAttributeName(slot);
    const Id id = builder_.module(parent, name, plain_type_name(*child->type()));
    push(*child, id, joined(path, name));
  }

  void push_tensor(c10::ivalue::Object& object, size_t slot, Id owner, const std::string& path) {
    const auto tensor = object.getSlot(slot).toTensor();
    const auto& name = object.type()->getAttributeName(slot);
    const auto full = joined(path, name);
    StorageTable::check(tensor, full);
    const bool parameter = object.type()->is_parameter(slot);
    const Id id = describe(tensor, full, owner, parameter, object.type()->is_buffer(slot));
    tree_.tensors.emplace(tensor.unsafeGetTensorImpl(), id);
    if (parameter || !may_control(tensor)) return;
    const auto real = file_.storages().read(tensor);
    if (!real.defined()) return;
    object.setSlot(slot, real);
    tree_.tensors.emplace(real.unsafeGetTensorImpl(), id);
    tree_.replaced.push_back(tensor);
  }

  /// Packed weights: torch does not list them as parameters because it cannot train them; a report
  /// does.
  void push_packed(const Packed& weights, const std::string& path, Id owner) {
    const auto push = [&](const at::Tensor& t, const char* part) {
      if (!t.defined() || tree_.tensors.contains(t.unsafeGetTensorImpl())) return;
      const auto full = joined(path, part);
      StorageTable::check(t, full);
      tree_.tensors.emplace(t.unsafeGetTensorImpl(), describe(t, full, owner, true, false));
    };
    push(weights.weight, "weight");
    push(weights.bias, "bias");
  }

  Id describe(const at::Tensor& t, const std::string& name, Id owner, bool parameter, bool buffer) {
    const auto* record = StorageTable::of(t);
    tmeter_tensor_desc d{};
    d.kind = parameter ? TMETER_TENSOR_PARAMETER
             : buffer  ? TMETER_TENSOR_BUFFER
                       : TMETER_TENSOR_CONSTANT;
    d.name = to_abi(name);
    d.owner = owner;
    d.dtype = static_cast<int32_t>(t.scalar_type());
    d.dims = t.sizes().data();
    d.strides = t.strides().data();
    d.rank = t.sizes().size();
    const auto key = storage_key(t, record);
    d.storage_key = to_abi(key);
    d.storage_offset = t.storage_offset();
    const bool has_bytes = record && record->entry.stored && record->entry.size > 0;
    d.file_offset = has_bytes ? static_cast<int64_t>(record->entry.offset) : -1;
    d.storage_bytes = has_bytes ? static_cast<int64_t>(record->entry.size) : 0;
    d.trainable = parameter && t.requires_grad();
    return builder_.tensor(d);
  }

  std::string storage_key(const at::Tensor& t, const StorageRecord* record) const {
    const auto identity = std::to_string(reinterpret_cast<uintptr_t>(t.unsafeGetTensorImpl()));
    if (!record) return identity;
    return expanded(t) ? record->name + "#" + identity : record->name;
  }

  void push_attribute(Id module, const std::string& name, const c10::IValue& value) {
    if (name.starts_with('_') || name == "training") return;
    if (const auto id = scalar(value)) return builder_.module_attribute(module, name, *id);
    std::vector<c10::IValue> items;
    if (value.isTuple()) {
      const auto& elements = value.toTupleRef().elements();
      items.assign(elements.begin(), elements.end());
    } else if (value.isIntList() || value.isDoubleList()) {
      for (const c10::IValue& item : value.toListRef()) items.push_back(item);
    }
    if (items.empty() || items.size() > kMaxAttributeItems) return;
    std::vector<Id> ids;
    for (const auto& item : items) {
      const auto id = scalar(item);
      if (!id) return;
      ids.push_back(*id);
    }
    builder_.module_attribute(module, name, builder_.list(ids));
  }

  std::optional<Id> scalar(const c10::IValue& v) {
    if (v.isInt()) return builder_.integer(v.toInt());
    if (v.isDouble()) return builder_.real(v.toDouble());
    if (v.isBool()) return builder_.boolean(v.toBool());
    if (v.isString()) return builder_.text(v.toStringRef());
    return std::nullopt;
  }

  const ModelFile& file_;
  GraphBuilder& builder_;
  ModuleTree tree_;
};

}  // namespace

ModuleTree push_modules(const ModelFile& file, GraphBuilder& builder) {
  return Pusher(file, builder).run();
}

}  // namespace tmeter::torch_backend
