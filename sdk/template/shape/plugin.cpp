// The shape of an in-house operator's result. With it, tmeter handles other input sizes and
// TorchScript files without the library that implements the operator.
#include <tmeter/cpp/plugin.hpp>

// x: [..., d], w_in: [2h, d], w_out: [d, h]. The result has the shape and element type of x.
static void shape(tmeter::ShapeCall& c) {
  c.input("w_in");
  c.input("w_out");
  c.give_like("x");
}

TMETER_PLUGIN("com.example.@name@", "1.0.0", [](tmeter::Registrar& r) {
  r.op("acme::gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor").shape(shape);
});
