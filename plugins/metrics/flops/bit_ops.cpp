#include "bit_ops.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <tmeter/cpp/node_class.hpp>

#include "ops/shapes.hpp"

namespace flops {
namespace {

/// Bits of one number; empty for types that hold no plain number.
std::optional<int64_t> bits_of(tmeter::DType type) {
  struct Packed {
    std::string_view name;
    int64_t bits;
  };
  // Stored in whole bytes, or several in one element.
  constexpr std::array kPacked{
      Packed{"quint4x2", 4}, Packed{"quint2x4", 2},
      Packed{"bits1x8", 1},  Packed{"bits2x4", 2},
      Packed{"bits4x2", 4},  Packed{"uint1", 1},
      Packed{"uint2", 2},    Packed{"uint3", 3},
      Packed{"uint4", 4},    Packed{"uint5", 5},
      Packed{"uint6", 6},    Packed{"uint7", 7},
      Packed{"int1", 1},     Packed{"int2", 2},
      Packed{"int3", 3},     Packed{"int4", 4},
      Packed{"int5", 5},     Packed{"int6", 6},
      Packed{"int7", 7},     Packed{"float4_e2m1fn_x2", 4},
  };
  for (const auto& p : kPacked)
    if (p.name == type.name()) return p.bits;
  const auto kind = type.kind();
  const bool plain = kind == tmeter::DTypeClass::kFloat || kind == tmeter::DTypeClass::kInt ||
                     kind == tmeter::DTypeClass::kQuantized;
  return plain ? std::optional(type.bytes() * 8) : std::nullopt;
}

// --- operators whose name states a width that no argument shows --------------------------------
struct ByName {
  std::string_view names;      // separated by spaces; one that ends with * is a prefix
  int64_t activation, weight;  // 0: by the operand's element type
};

// Sources: aten/src/ATen/native/quantized (linear and conv pack qint8 weights, the dynamic ones
// quantize their input to 8 bits), QuantizedLinear.cpp (fbgemm_linear_int8_weight likewise; fp16
// weights are multiplied with float32), native_functions.yaml (int4 and int8 packed products;
// _dyn_quant_matmul_4bit quantizes its input to 8 bits).
constexpr std::array kByName{
    ByName{"aten::_weight_int4pack_mm*", 0, 4},
    ByName{"quantized::int4mm_packed_weight_cpu", 0, 4},
    ByName{"aten::_dyn_quant_matmul_4bit", 8, 4},
    ByName{"aten::_weight_int8pack_mm", 0, 8},
    ByName{"aten::fbgemm_linear_int8_weight*", 8, 8},
    ByName{"aten::fbgemm_linear_fp16_weight*", 32, 16},
    ByName{"_quantized::wrapped_fbgemm_linear_fp16_weight", 32, 16},
    ByName{"quantized::linear_dynamic_fp16* quantized::linear_relu_dynamic_fp16", 32, 16},
    ByName{"quantized::linear* _quantized::linear* quantized::conv* _quantized::conv*", 8, 8},
};

bool matches(std::string_view names, std::string_view op) {
  for (size_t from = 0; from < names.size();) {
    const size_t to = std::min(names.find(' ', from), names.size());
    const auto name = names.substr(from, to - from);
    if (name.ends_with('*') ? op.starts_with(name.substr(0, name.size() - 1)) : op == name)
      return true;
    from = to + 1;
  }
  return false;
}

// --- operands ---------------------------------------------------------------------------------
const Names kActivations{"mat1", "batch1", "mat", "sparse",  "query",    "q", "input",
                         "inp",  "self",   "qa",  "X",       "qx",       "x", "src",
                         "data", "input1", "i1",  "tensors", "matrices", "A"};
const Names kWeights{"mat2",       "batch2", "dense", "dense_B", "key",    "k",
                     "weight",     "W",      "qw",    "qb",      "other",  "vec",
                     "vec2",       "tensor", "y",     "w_ih",    "params", "weight0",
                     "qkv_weight", "offset", "i2",    "B",       "A"};

Value first_of(const Node& n, Names names) {
  for (const auto name : names)
    if (const auto v = n.arg(name); v.is_tensor() || (v.is_list() && v.size() > 0)) return v;
  return Value();
}

/// An int8 tensor may hold fewer bits: its declared range states how many.
int64_t bits_of_range(const Node& dequantize, int64_t bits) {
  const auto low = dequantize.arg("quant_min"), high = dequantize.arg("quant_max");
  if (low.is_none() || high.is_none() || high.as_int() <= low.as_int()) return bits;
  return std::bit_width(static_cast<uint64_t>(high.as_int() - low.as_int()));
}

std::optional<int64_t> bits_of(const Value& v);

bool is_dequantize(const Node& n) { return tmeter::base_name(n.op()).starts_with("dequantize"); }

/// If the graph has none, producers need not be searched.
bool any_dequantize = true;

/// Operands dequantized just before are multiplied in their own width by a backend that quantizes.
std::optional<int64_t> bits_of_tensor(Value v) {
  constexpr int kMaxProducerSteps = 8;
  for (int i = 0; i < kMaxProducerSteps && any_dequantize; ++i) {
    const auto made_by = v.producer();
    if (!made_by) break;
    if (is_dequantize(made_by)) {
      const auto stored = first_of(made_by, {"input", "self", "qtensor"});
      const auto bits = stored.is_tensor() ? bits_of(stored.dtype()) : std::nullopt;
      return bits ? std::optional(bits_of_range(made_by, *bits)) : std::nullopt;
    }
    const auto viewed = first_of(made_by, {"self", "input"});
    if (tmeter::op_class(made_by.op()) != tmeter::OpClass::kView || !viewed.is_tensor()) break;
    v = viewed;
  }
  return bits_of(v.dtype());
}

/// The width that all tensors of a list share.
std::optional<int64_t> bits_of(const Value& v) {
  if (v.is_tensor()) return bits_of_tensor(v);
  std::optional<int64_t> shared;
  for (size_t i = 0; i < v.size(); ++i) {
    if (!v[i].is_tensor()) continue;
    const auto bits = bits_of_tensor(v[i]);
    if (!bits || (shared && *shared != *bits)) return std::nullopt;
    shared = bits;
  }
  return shared;
}

/// For a plugin's operator it is unknown which arguments are multiplied. The width is known only if
/// all arguments share it.
std::optional<int64_t> bits_of_all(const Node& n) {
  std::optional<int64_t> shared;
  for (size_t i = 0; i < n.arg_count(); ++i) {
    if (!n.arg(i).is_tensor() && !n.arg(i).is_list()) continue;
    const auto bits = bits_of(n.arg(i));
    if (!bits || (shared && *shared != *bits)) return std::nullopt;
    shared = bits;
  }
  return shared;
}

struct Widths {
  std::optional<int64_t> activation, weight;
};

Widths widths_of(const Node& n) {
  ByName named{};
  for (const auto& row : kByName)
    if (named.names.empty() && matches(row.names, n.op())) named = row;
  const auto left = first_of(n, kActivations), right = first_of(n, kWeights);
  Widths w;
  w.activation = named.activation ? std::optional(named.activation) : bits_of(left);
  w.weight = named.weight ? std::optional(named.weight) : bits_of(right);
  if (left.is_list() && right.is_none()) w.weight = w.activation;  // einsum and the like
  if (!tmeter::is_common_op(n.op()) && !(w.activation && w.weight))
    w.activation = w.weight = bits_of_all(n);
  return w;
}

/// Attention multiplies scores with values as well: they must be of the width of the keys.
bool values_differ(const Node& n, const Widths& w) {
  const auto v = first_of(n, {"value", "v"});
  return v.is_tensor() && bits_of(v) != w.weight;
}

/// The product of both operands' bits; nothing: one is unknown.
std::optional<int64_t> bits_of_product(const Node& n) {
  const auto w = widths_of(n);
  if (!w.activation || !w.weight || values_differ(n, w)) return std::nullopt;
  return *w.activation * *w.weight;
}

bool multiplies(const Node& n, const tmeter::Call& call) {
  const auto kind = tmeter::op_class(n, call);
  if (kind == tmeter::OpClass::kOther) return !tmeter::is_common_op(n.op());
  constexpr std::array kProducts{tmeter::OpClass::kConvolution, tmeter::OpClass::kMatmul,
                                 tmeter::OpClass::kAttention, tmeter::OpClass::kRecurrent};
  return std::find(kProducts.begin(), kProducts.end(), kind) != kProducts.end();
}

}  // namespace

void look_for_dequantize(const tmeter::Graph& graph) {
  // Large graphs repeat a few names, and equal ones are mostly adjacent.
  std::array<std::string_view, 64> seen;
  any_dequantize = false;
  for (const auto& node : graph.nodes()) {
    const auto op = node.op();
    auto& last = seen[reinterpret_cast<uintptr_t>(op.data()) / 8 % seen.size()];
    if (last.data() == op.data() && last.size() == op.size()) continue;
    last = op;
    any_dequantize = is_dequantize(node);
    if (any_dequantize) return;
  }
}

Cell bit_ops(const Node& n, tmeter::Call& call) {
  const auto macs = call.read("macs", n);
  if (!macs.is_int()) return macs.known() ? macs : Cell::unsupported();
  const auto bits = bits_of_product(n);
  return bits ? Cell(macs.count() * *bits) : Cell::unsupported();
}

Cell bit_ops_of_call(const tmeter::Graph&, const tmeter::ModuleCall& m, tmeter::Call& call) {
  const auto macs = call.read("macs", m);
  if (!macs.is_int()) return macs.known() ? macs : Cell::unsupported();
  std::optional<int64_t> shared;
  for (const auto& n : m.nodes()) {
    if (!multiplies(n, call)) continue;
    const auto bits = bits_of_product(n);
    if (!bits || (shared && shared != bits)) return Cell::unsupported();
    shared = bits;
  }
  if (!shared) return Cell::unsupported();
  const Cell product(macs.count() * *shared);
  return macs.partial() ? product.as_partial() : product;
}

}  // namespace flops
