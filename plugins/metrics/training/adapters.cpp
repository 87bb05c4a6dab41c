#include "adapters.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <tmeter/cpp/op_class.hpp>

#include "gradients.hpp"

namespace training {
namespace {

using tmeter::Count;
using tmeter::Node;
using tmeter::Tensor;
using tmeter::Value;

constexpr int64_t kMaxRank = 1 << 20;

[[noreturn]] void refuse(const std::string& why) {
  throw tmeter::Error(TMETER_BAD_USAGE,
                      "training.lora: " + why + "; an example: r:16,targets:q_proj|v_proj");
}

/// The other factor of a product with a weight.
struct Linear {
  Value input{};
  Tensor weight{};
};

Linear linear_of(const Node& node) {
  const auto base = tmeter::base_name(node.op());
  const auto factors = [&](std::string_view input, std::string_view weight) -> Linear {
    const auto tensor = node.arg(weight).tensor();
    if (!tensor || !tensor.is_parameter() || tensor.shape().rank() != 2) return Linear();
    return {node.arg(input), tensor.canonical()};
  };
  if (base == "linear") return factors("input", "weight");
  if (base == "addmm") return factors("mat1", "mat2");
  if (base == "mm") return factors("self", "mat2");
  if (base == "matmul") return factors("self", "other");
  return Linear();
}

/// "q_proj" fits every module of that name, "0.attn.q_proj" the end of a path.
bool is_target(std::string_view target, std::string_view path) {
  return matches(target, path) || matches("*." + std::string(target), path);
}

std::string_view module_path(const Tensor& weight) {
  const auto name = weight.name();
  return name.substr(0, std::min(name.rfind('.'), name.size()));
}

}  // namespace

Adapters::Adapters(const tmeter::Graph& graph, std::string_view text) {
  if (text.empty()) return;
  for_each_word(
      text,
      [&](std::string_view entry) {
        const auto colon = entry.find(':');
        const auto key = entry.substr(0, colon);
        const auto value = colon == entry.npos ? std::string_view() : entry.substr(colon + 1);
        int64_t rank = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), rank);
        if (key == "r" && read.ptr == value.data() + value.size() && rank > 0 && rank <= kMaxRank)
          rank_ = rank;
        else if (key == "r")
          refuse("r is a whole number from 1 to 1048576, not '" + std::string(value) + "'");
        else if (key == "targets")
          for_each_word(
              value, [&](std::string_view t) { targets_.push_back(t); }, '|');
        else
          refuse("'" + std::string(key) + "' is neither r nor targets");
      },
      ',');
  if (rank_ == Count(0)) refuse("the rank r is missing");
  if (targets_.empty()) refuse("targets are missing");
  matrices_.resize(graph.tensors().size());
  std::vector<bool> used(targets_.size());
  const auto add = [&](const Tensor& weight, Count in, Count out) {
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].empty() || !is_target(targets_[i], module_path(weight))) continue;
      used[i] = true;
      matrices_[weight.index()] = Sizes{in, out};
    }
  };
  for (const auto& node : graph.nodes()) {
    const auto linear = linear_of(node);
    const auto result = node.result(0);
    if (linear.weight && linear.input.shape().rank() > 0 && result.shape().rank() > 0)
      add(linear.weight, linear.input.shape().back(), result.shape().back());
  }
  if (graph.nodes().size() == 0)  // only weights: a matrix is assumed to be that of a linear layer
    for (const auto& t : graph.tensors())
      if (t.is_parameter() && t.shape().rank() == 2 && !t.is_tied())
        add(t, t.shape()[1], t.shape()[0]);
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i]) refuse("'" + std::string(targets_[i]) + "' matches no linear layer");
}

std::optional<Adapter> Adapters::of(const Node& node) const {
  if (!any()) return std::nullopt;
  const auto linear = linear_of(node);
  if (!linear.weight || !matrices_[linear.weight.index()]) return std::nullopt;
  const auto& sizes = *matrices_[linear.weight.index()];
  const auto rows = sizes.in == Count(0) ? Count(0) : linear.input.numel() / sizes.in;
  return Adapter{linear.input, rows, sizes.in, sizes.out, rank_};
}

std::vector<TrainedTensor> Adapters::beside(const Tensor& weight) const {
  if (!any() || !matrices_[weight.index()]) return {};
  const auto& [in, out] = *matrices_[weight.index()];
  // Encoded weights read as float32; quantized ones have adapters of that type.
  const auto own = weight.dtype();
  const auto dtype =
      own.kind() == tmeter::DTypeClass::kFloat ? own : tmeter::DType(TMETER_DTYPE_FLOAT32);
  return {{2, rank_ * in, rank_, in, dtype}, {2, out * rank_, out, rank_, dtype}};
}

}  // namespace training
