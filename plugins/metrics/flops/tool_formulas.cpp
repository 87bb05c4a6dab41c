#include "tool_formulas.hpp"

#include <tmeter/cpp/op_class.hpp>

#include "ops/attention.hpp"
#include "ops/pooling.hpp"
#include "ops/recurrent.hpp"

namespace flops {
namespace {

/// A tool's additions per hidden unit and step of a recurrent layer, by the number of gates.
struct PerUnit {
  int64_t lstm, gru, rnn;
  int64_t of(int64_t gates) const { return gates == 4 ? lstm : gates == 3 ? gru : rnn; }
};
constexpr PerUnit kBiases{8, 6, 2};  // two additions per gate

Count recurrent(const Node& n, Count macs, const PerUnit& arithmetic) {
  const auto r = recurrence_of(n);
  if (!r) throw Unsupported(std::string(n.op()) + " is of an unknown recurrent kind");
  return macs + r->unit_steps * (arithmetic.of(r->gates) + (r->biases ? kBiases.of(r->gates) : 0));
}

}  // namespace

Count in_and_out(const Node& n, Count) { return data(n).numel() + output(n).numel(); }

Count out_by_window_minus_1(const Node& n, Count) {
  const auto name = tmeter::base_name(n.op());
  const auto digit = name.find_first_of("123");
  return output(n).numel() * (pooling_window(n, name[digit] - '0') - 1);
}

Count out_by_twice_window_minus_1(const Node& n, Count macs) {
  return out_by_window_minus_1(n, macs) * 2 + output(n).numel();
}

Count twice_without_first_addition(const Node& n, Count macs) {
  if (macs == Count(0)) return macs;
  return macs + macs_and_bias(n, macs) - output(n).numel();
}

Count twice_without_first_addition_or_bias(const Node& n, Count macs) {
  return macs == Count(0) ? macs : macs * 2 - output(n).numel();
}

Count out_by_window(const Node& n, Count macs) {
  return out_by_window_minus_1(n, macs) + output(n).numel();
}

Count softmax_3n_minus_1(const Node& n, Count) {
  const auto x = data(n);
  if (x.shape().empty()) return 2;
  const Count normalised = x.shape()[n.arg("dim").as_int(-1)];
  return normalised == Count(0) ? Count(0) : x.numel() / normalised * (normalised * 3 - 1);
}

Count relu6(const Node& n, Count) {
  const bool is = n.arg("min_val").as_float(-1) == 0 && n.arg("max_val").as_float(1) == 6;
  return is ? data(n).numel() : Count(0);
}

Count macs_and_bias(const Node& n, Count macs) {
  const auto name = tmeter::base_name(n.op());
  const bool adds = name == "addmm" || name == "baddbmm" || name == "_addmm_activation";
  return macs + (adds ? output(n).numel() : bias_adds(n));
}

Count batch_times_parameters(const Node& n, Count) {
  const auto shape = data(n).shape();
  return (shape.empty() ? 1 : shape.front()) * (n.arg("weight").numel() + n.arg("bias").numel());
}

Count macs_scores_and_query(const Node& n, Count macs) {
  return macs + macs / *macs_per_score(n) + tensor_arg(n, {"query"}).numel();
}

Count ptflops_fused_attention(const Node& n, Count macs) {
  const auto f = *fused_attention(n);
  return macs + f.biases + f.scores + f.query;
}

Count thop_recurrent(const Node& n, Count macs) { return recurrent(n, macs, {8, 7, 1}); }
Count ptflops_recurrent(const Node& n, Count macs) { return recurrent(n, macs, {10, 7, 1}); }
Count torchinfo_recurrent(const Node& n, Count macs) { return recurrent(n, macs, {0, 0, 0}); }

}  // namespace flops
