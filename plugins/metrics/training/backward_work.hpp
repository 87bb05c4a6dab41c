// Work and memory of a node's backward.
//
// The multiply-accumulates: for each factor of a product that needs a gradient one
// product as large as the forward's, `backward of X · Y = (dZ · Yᵀ, Xᵀ · dZ)`.
#pragma once
#include <optional>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

#include "gradients.hpp"
#include "settings.hpp"

namespace training {

/// The work of one node. `torch_*`: the count of FlopCounterMode of torch 2.15, in MACs (half of
/// its FLOPs).
struct Work {
  tmeter::Cell backward, torch_forward, torch_backward;
  tmeter::Count adapter = 0;  // MACs of the adapter, without the operator's own
};

/// `macs` is the node's value of that metric.
Work backward_work(const tmeter::Node& node, const tmeter::Cell& macs, const Gradients& gradients,
                   const Settings& settings);

/// Whether the base name is that of a fused attention.
bool is_attention(std::string_view base);

/// Whether the CPU's or CUDA's fused kernel takes this attention; otherwise it runs as two products
/// and a softmax.
bool runs_fused(const tmeter::Node& attention, const Gradients& gradients,
                const Settings& settings);

// Memory that one operator's backward takes: whether the gradient of an argument is that of the
// result, or new, and which temporaries its formula makes.

/// The gradient of the argument shares the storage of the result's gradient.
bool shares_gradient(const tmeter::Node& node, std::string_view argument,
                     const tmeter::Value& value);

/// The largest number of bytes beside the gradients themselves.
tmeter::Count backward_temporaries(const tmeter::Node& node, const Gradients& gradients,
                                   const Settings& settings);

}  // namespace training
