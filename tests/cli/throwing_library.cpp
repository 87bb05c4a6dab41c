// A library whose initializer throws, as PyTorch's registration of an operator does when there is
// one of this name.
#include <stdexcept>

namespace {

struct Registration {
  Registration() { throw std::runtime_error("acme::gated_mlp is registered twice"); }
} const registration;

}  // namespace
