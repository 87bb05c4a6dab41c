// acme::gated_mlp (tests/fixtures/acme/nn.py) as a company would ship it: in a library of
// operators.
#include <ATen/Functions.h>
#include <torch/library.h>

namespace {

at::Tensor gated_mlp(const at::Tensor& x, const at::Tensor& w_in, const at::Tensor& w_out) {
  TORCH_CHECK(x.size(0) != 7, "acme::gated_mlp does not take 7 samples");
  const auto parts = at::matmul(x, w_in.t()).chunk(2, -1);
  return at::matmul(parts[0].sigmoid().mul(parts[1]), w_out.t());
}

}  // namespace

TORCH_LIBRARY(acme, library) {
  library.def("gated_mlp(Tensor x, Tensor w_in, Tensor w_out) -> Tensor");
  library.impl("gated_mlp", c10::DispatchKey::CPU, TORCH_FN(gated_mlp));
}
