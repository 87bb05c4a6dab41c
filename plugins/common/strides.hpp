// How the tensors of a model lie in memory, as far as it can be told: a file records sizes, strides
// of parameters alone. Views are followed exactly; what other operators make is contiguous where
// PyTorch makes it so, else unknown. Who guesses wrong here would tell of copies that are none.
#pragma once
#include <optional>
#include <span>
#include <tmeter/cpp/plugin.hpp>
#include <unordered_map>
#include <vector>

#pragma GCC visibility push(hidden)
namespace plugins {

/// An argument `memory_format`; none is not.
bool is_channels_last(const tmeter::Value& memory_format);

using Sizes = std::vector<int64_t>;

/// How many elements; empty: more than a number holds.
std::optional<int64_t> product_of(std::span<const int64_t> sizes);

struct Strided {
  Sizes sizes, strides;  // elements
};

Strided contiguous(Sizes sizes);
/// NHWC, NDHWC: of tensors of four dims or more, and not contiguous as well.
Strided channels_last(Sizes sizes);
bool is_channels_last(const Strided& s);
/// As torch.Tensor.is_contiguous: dims of size 1 may have any stride.
bool is_contiguous(const Strided& s);
/// The strides under which `sizes` are a view of it; empty when only a copy has them. As
/// at::detail::computeStride.
std::optional<Sizes> view_strides(const Strided& s, const Sizes& sizes);

class Layouts {
 public:
  explicit Layouts(const tmeter::Graph& graph);

  /// Empty: not known.
  const Strided* of(const tmeter::Value& value) const;
  /// Reshapes that must copy, in order.
  const std::vector<tmeter::Node>& copying_reshapes() const { return copying_; }

 private:
  using Known = std::optional<Strided>;
  void step(const tmeter::Node& node);
  Known result_of(const tmeter::Node& node, const tmeter::Value& result);
  Known view_of(const tmeter::Node& node, const Strided& from, const tmeter::Value& result);
  Known reshaped(const tmeter::Node& node, const Strided& from, const tmeter::Value& result);
  Known elementwise(const tmeter::Node& node, const tmeter::Value& result) const;
  bool all_inputs_are_contiguous(const tmeter::Node& node) const;
  void set(const tmeter::Value& value, Known known);

  std::unordered_map<const tmeter_value*, Strided> known_;
  std::vector<tmeter::Node> copying_;
};

}  // namespace plugins
#pragma GCC visibility pop
