// One in-house operator and one report format: everything a first plugin needs.
#include <tmeter/cpp/plugin.hpp>

// acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor
// x: [..., d], w_in: [2h, d], w_out: [d, h]. Per row: d·2h for the gate and value, h·d to come
// back.
static tmeter::Count macs(const tmeter::Node& n) {
  const auto x = n.input("x").shape(), w = n.input("w_out").shape();
  return x.numel() / x.back() * (3 * w[0] * w[1]);
}

// What the program goes on with: a TorchScript file that calls the operator is run on shapes, and
// needs no library that implements it.
static void shape(tmeter::ShapeCall& c) { c.give_like("x"); }

static void one_line(const tmeter::Report& r, tmeter::Output& out, tmeter::Call&) {
  for (const auto& m : r.metrics()) out.print("{}={} ", m.id(), r.total(m));
  out.print("\n");
}

TMETER_PLUGIN("com.acme.layers", "1.0.0", [](tmeter::Registrar& r) {
  r.op("acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor")
      .handle("macs", macs)
      .shape(shape);
  r.writer("oneline", "txt", "text/plain", one_line);
});
