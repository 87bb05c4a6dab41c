// Every family of operators registers its rules here; the plugin calls them all once.
//
// Two metrics are given per operator: `macs` (multiply-accumulates, no bias) and `other_flops`
// (all other arithmetic, counted by the convention "full"). To add an operator: write one function
// returning a Count, name the operator in the register function of its file, add a row to
// tests/unit/flops and docs/conventions.md. `families` answers for everything not named anywhere,
// by operator class, and gives "unknown" without a rule.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace flops {

inline constexpr std::string_view kMacs = "macs";
inline constexpr std::string_view kOther = "other_flops";

void register_attention(tmeter::Registrar& r);
void register_conv(tmeter::Registrar& r);
void register_einsum(tmeter::Registrar& r);
void register_elementwise(tmeter::Registrar& r);
void register_embedding(tmeter::Registrar& r);
void register_families(tmeter::Registrar& r);
void register_fft(tmeter::Registrar& r);
void register_interpolation(tmeter::Registrar& r);
void register_matmul(tmeter::Registrar& r);
void register_normalization(tmeter::Registrar& r);
void register_pooling(tmeter::Registrar& r);
void register_quantized(tmeter::Registrar& r);
void register_recurrent(tmeter::Registrar& r);

using Names = std::initializer_list<std::string_view>;

/// The same two rules for several names of an operator.
template <class Macs, class Other>
void rules(tmeter::Registrar& r, Names ops, Macs macs, Other other) {
  for (const auto op : ops) r.op(op).handle(kMacs, macs).handle(kOther, other);
}

/// Operators without multiply-accumulates by the rules of their families: only the other
/// arithmetic.
template <class Other>
void other_rules(tmeter::Registrar& r, Names ops, Other other) {
  for (const auto op : ops) r.op(op).handle(kOther, other);
}

}  // namespace flops
