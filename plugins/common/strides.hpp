// Strides of the tensors of a graph. A file records the strides of parameters only. Views are
// followed exactly; results of other operators are contiguous where PyTorch guarantees it, else
// unknown: a wrong guess would report copies that do not happen.
#pragma once
#include <optional>
#include <span>
#include <tmeter/cpp/plugin.hpp>
#include <unordered_map>
#include <vector>

#pragma GCC visibility push(hidden)
namespace plugins {

/// Whether an argument `memory_format` is channels_last; false for none.
bool is_channels_last(const tmeter::Value& memory_format);

using Sizes = std::vector<int64_t>;

/// The number of elements; empty if it exceeds 63 bits.
std::optional<int64_t> product_of(std::span<const int64_t> sizes);

struct Strided {
  Sizes sizes, strides;  // elements
};

Strided contiguous(Sizes sizes);
/// NHWC, NDHWC: at least four dims, and not contiguous at the same time.
Strided channels_last(Sizes sizes);
bool is_channels_last(const Strided& s);
/// Equal to torch.Tensor.is_contiguous: dims of size 1 may have any stride.
bool is_contiguous(const Strided& s);
/// The strides of a view of `s` with these sizes, as at::detail::computeStride; empty if a copy is
/// needed.
std::optional<Sizes> view_strides(const Strided& s, const Sizes& sizes);

class Layouts {
 public:
  explicit Layouts(const tmeter::Graph& graph);

  /// Null if unknown.
  const Strided* of(const tmeter::Value& value) const;
  /// Reshapes that copy, in graph order.
  const std::vector<tmeter::Node>& copying_reshapes() const { return copying_; }

 private:
  using MaybeStrided = std::optional<Strided>;
  void step(const tmeter::Node& node);
  MaybeStrided result_of(const tmeter::Node& node, const tmeter::Value& result);
  MaybeStrided view_of(const tmeter::Node& node, const Strided& from, const tmeter::Value& result);
  MaybeStrided reshaped(const tmeter::Node& node, const Strided& from, const tmeter::Value& result);
  MaybeStrided elementwise(const tmeter::Node& node, const tmeter::Value& result) const;
  bool all_inputs_are_contiguous(const tmeter::Node& node) const;
  void set(const tmeter::Value& value, MaybeStrided strided);

  std::unordered_map<const tmeter_value*, Strided> strided_;
  std::vector<tmeter::Node> copying_;
};

}  // namespace plugins
#pragma GCC visibility pop
