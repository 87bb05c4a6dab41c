// OpClass: the kind of work of an operator, from its name only.
//
//   op_class("aten::relu_")       → kActivation     (in-place and out forms follow their base)
//   op_class("quantized::linear") → kMatmul
//   op_class("acme::secret")      → kOther          (no rule: report "unknown", never zero)
//
// For metrics that treat whole families alike: energy per class, "views cost nothing". The names
// are packed and sorted at compile time; a look-up is one binary search and allocates nothing.
#pragma once
#include <algorithm>

#include "op_class_table.hpp"

TMETER_SDK_BEGIN

namespace detail {

inline constexpr std::array<std::string_view, 20> kOpClassNames{
    "convolution",   "matmul",        "attention", "recurrent",  "embedding",
    "normalization", "softmax",       "pooling",   "activation", "elementwise",
    "reduction",     "interpolation", "gather",    "sort",       "creation",
    "random",        "copy",          "view",      "control",    "other"};

}  // namespace detail

constexpr std::string_view name_of(OpClass c) {
  const auto i = static_cast<size_t>(c);
  return i < detail::kOpClassNames.size() ? detail::kOpClassNames[i] : detail::kOpClassNames.back();
}

/// "matmul" → kMatmul; an unknown word is kOther.
constexpr OpClass op_class_named(std::string_view name) {
  const auto& names = detail::kOpClassNames;
  const auto at = std::find(names.begin(), names.end() - 1, name);
  return static_cast<OpClass>(at - names.begin());
}

namespace detail {

/// The place of a name in kOpClassRows. Offsets need no relocation when a plugin is opened;
/// pointers would.
struct OpClassSlot {
  /// Hash of the name: sorting strings takes more steps than clang permits in a constant.
  uint32_t hash;
  uint16_t offset;
  uint8_t row;
  uint8_t length;
  constexpr std::string_view name() const { return kOpClassRows[row].names.substr(offset, length); }
};

/// FNV-1a.
constexpr uint32_t hash_of(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

constexpr size_t op_class_count() {
  size_t n = 0;
  for (const auto& row : kOpClassRows) n += 1 + std::count(row.names.begin(), row.names.end(), ' ');
  return n;
}

constexpr auto make_op_class_index() {
  std::array<OpClassSlot, op_class_count()> index{};
  size_t n = 0;
  for (size_t r = 0; r < kOpClassRows.size(); ++r) {
    const auto names = kOpClassRows[r].names;
    for (size_t from = 0; from < names.size();) {
      const size_t to = std::min(names.find(' ', from), names.size());
      index[n++] = {hash_of(names.substr(from, to - from)), static_cast<uint16_t>(from),
                    static_cast<uint8_t>(r), static_cast<uint8_t>(to - from)};
      from = to + 1;
    }
  }
  std::sort(index.begin(), index.end(),
            [](const auto& a, const auto& b) { return a.hash < b.hash; });
  return index;
}

inline constexpr auto kOpClassIndex = make_op_class_index();

constexpr OpClass find_op_class(std::string_view name) {
  const auto hash = hash_of(name);
  auto at = std::lower_bound(kOpClassIndex.begin(), kOpClassIndex.end(), hash,
                             [](const auto& slot, auto wanted) { return slot.hash < wanted; });
  for (; at != kOpClassIndex.end() && at->hash == hash; ++at) {
    if (at->name() == name) return kOpClassRows[at->row].kind;
  }
  return OpClass::kOther;
}

/// Namespaces whose operators have the meaning of the ATen name.
inline constexpr std::array<std::string_view, 14> kKnownOpNamespaces{
    "aten",   "prims",  "torchvision", "quantized",      "_quantized",       "quantized_decomposed",
    "mkldnn", "onednn", "mkl",         "static_runtime", "mkldnn_prepacked", "transformers",
    "torch",    // torch.sym_ite and similar functions, which torch.export records
    "export"};  // the parts of tensor subclasses
/// Namespaces in which nothing is computed on tensors.
inline constexpr std::array<std::string_view, 4> kControlOpNamespaces{"prim", "_operator", "math",
                                                                      "builtins"};

}  // namespace detail

/// "aten::add_.Tensor" → "add": without namespace, overload, and in-place, out or list marks.
constexpr std::string_view base_name(std::string_view op) {
  const auto colon = op.find("::");
  if (colon != std::string_view::npos) op.remove_prefix(colon + 2);
  op = op.substr(0, op.find('.'));
  if (op.starts_with("_foreach_")) op.remove_prefix(9);
  if (op.size() > 1 && op.back() == '_' && !op.ends_with("__")) op.remove_suffix(1);
  return op;
}

/// "aten::relu_", but not "aten::__and__"; "aten::__iand__" is the in-place form of "__and__".
constexpr bool is_in_place(std::string_view op) {
  if (!op.ends_with("__")) return op.ends_with('_');
  const auto colon = op.rfind(':');
  return op.substr(colon == std::string_view::npos ? 0 : colon + 1).starts_with("__i");
}

namespace detail {

template <size_t N>
constexpr bool in_namespace(std::string_view op, const std::array<std::string_view, N>& list) {
  const auto colon = op.find("::");
  const auto space =
      colon == std::string_view::npos ? std::string_view("aten") : op.substr(0, colon);
  return std::find(list.begin(), list.end(), space) != list.end();
}

}  // namespace detail

/// Whether the operator belongs to PyTorch, its libraries or Python; not "acme::secret".
constexpr bool is_common_op(std::string_view op) {
  return detail::in_namespace(op, detail::kControlOpNamespaces) ||
         detail::in_namespace(op, detail::kKnownOpNamespaces);
}

constexpr OpClass op_class(std::string_view op) {
  if (detail::in_namespace(op, detail::kControlOpNamespaces)) return OpClass::kControl;
  if (!detail::in_namespace(op, detail::kKnownOpNamespaces)) return OpClass::kOther;
  auto name = base_name(op);
  auto found = detail::find_op_class(name);
  if (found == OpClass::kOther && name.ends_with("_out"))
    found = detail::find_op_class(name.substr(0, name.size() - 4));
  // view_copy, permute_copy, …: a copy of the view.
  if (found == OpClass::kOther && name.ends_with("_copy") &&
      detail::find_op_class(name.substr(0, name.size() - 5)) == OpClass::kView)
    found = OpClass::kCopy;
  return found;
}

static_assert(op_class("aten::relu_") == OpClass::kActivation);
static_assert(op_class("aten::view_copy") == OpClass::kCopy);
static_assert(op_class("acme::relu") == OpClass::kOther);

TMETER_SDK_END
