// The cost of an in-house operator, and the shape of its result.
#include <tmeter/cpp/plugin.hpp>

// acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor
// x: [..., d], w_in: [2h, d], w_out: [d, h]. Each row takes d·2h multiply-adds for the gate and the
// value, and h·d for the output.
static tmeter::Count macs(const tmeter::Node& n) {
  const auto x = n.input("x").shape(), w_out = n.input("w_out").shape();
  return x.numel() / x.back() * (3 * w_out[0] * w_out[1]);
}

// One sigmoid and one product for each of the h hidden values of a row.
static tmeter::Count other_flops(const tmeter::Node& n) {
  const auto x = n.input("x").shape();
  return x.numel() / x.back() * (2 * n.input("w_out").shape()[1]);
}

TMETER_PLUGIN("com.example.@name@", "1.0.0", [](tmeter::Registrar& r) {
  r.op("acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor")
      .handle("macs", macs)
      .handle("other_flops", other_flops)
      .work("matmul")
      .shape([](tmeter::ShapeCall& c) { c.give_like("x"); });
});
