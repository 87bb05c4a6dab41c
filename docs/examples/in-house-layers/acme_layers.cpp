// Everything that tmeter needs about an in-house operator: acme::gated_mlp.
#include <tmeter/cpp/plugin.hpp>

// acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor
// x: [..., d], w_in: [2h, d], w_out: [d, h]
static tmeter::Count rows(const tmeter::Node& n) {
  return n.input("x").numel() / n.input("x").shape().back();
}

// For each row d·2h multiply-adds for the gate and the value, and h·d for the output.
static tmeter::Count macs(const tmeter::Node& n) {
  const auto w_out = n.input("w_out").shape();
  return rows(n) * 3 * w_out[0] * w_out[1];
}

// One sigmoid and one product for each of the h hidden values of a row.
static tmeter::Count other_flops(const tmeter::Node& n) {
  return rows(n) * 2 * n.input("w_out").shape()[1];
}

// The result is like x, but as wide as w_out is high.
static void shape(tmeter::ShapeCall& c) {
  const auto x = c.input("x").shape(), w_in = c.input("w_in").shape();
  if (x.rank() == 0 || w_in.rank() != 2 || x.back() != w_in[1])
    c.refuse("x is not as wide as w_in");
  std::vector<int64_t> dims(x.begin(), x.end());
  dims.back() = c.input("w_out").shape()[0];
  c.give(c.input("x").dtype(), dims);
}

TMETER_PLUGIN("com.acme.layers", "1.0.0", [](tmeter::Registrar& r) {
  r.op("acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor")
      .handle("macs", macs)
      .handle("other_flops", other_flops)
      .work("matmul")
      .shape(shape);
});
