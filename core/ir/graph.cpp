#include "core/ir/graph.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <cstring>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// Elements and bytes of a tensor must fit 63 bits (16 bytes is the widest element).
void check_size(std::span<const int64_t> dims) {
  int64_t numel = 16;
  for (const auto d : dims) {
    const auto product = d < 0 ? std::nullopt : checked_mul(numel, d);
    if (!product) {
      std::string text;
      for (const auto x : dims) text += (text.empty() ? "" : ", ") + std::to_string(x);
      throw Error(ErrorKind::kModel, "a tensor has the impossible shape [" + text + "]");
    }
    numel = *product;
  }
}

std::string range_text(const Symbol& s) {
  return std::to_string(s.min) + "…" +
         (s.max == INT64_MAX ? std::string("any") : std::to_string(s.max));
}

}  // namespace

std::string_view Graph::property(std::string_view key) const {
  const auto it = properties_.find(key);
  return it == properties_.end() ? std::string_view() : std::string_view(it->second);
}

std::string_view Graph::intern(std::string_view text) {
  if (text.empty()) return {};
  if (const auto it = strings_.find(text); it != strings_.end()) return *it;
  auto* copy = static_cast<char*>(arena_.allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  return *strings_.emplace(copy, text.size()).first;
}

void Graph::evaluate() {
  if (expressions_.size() == 0) return;
  expressions_.evaluate(symbols_);
  for (auto& v : values_) {
    if (v.expr) v.i = expressions_.value(v.expr);
    if (v.dim_exprs.empty()) continue;
    for (size_t i = 0; i < v.dims.size(); ++i) {
      if (v.dim_exprs[i]) v.dims[i] = expressions_.value(v.dim_exprs[i]);
    }
    check_size(v.dims);
  }
}

bool Graph::wants_other_inputs() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const Input& i) { return !i.wanted.empty(); });
}

void Graph::bind(std::string_view name, int64_t value) {
  const auto it = std::find_if(symbols_.begin(), symbols_.end(),
                               [&](const Symbol& s) { return s.name == name; });
  if (it == symbols_.end()) {
    std::vector<std::string> names;
    for (const auto& s : symbols_) names.emplace_back(s.name);
    std::string known;
    for (const auto& n : names) known += (known.empty() ? "" : ", ") + n;
    throw Error(ErrorKind::kUsage,
                "the model has no symbol '" + std::string(name) + "'" + did_you_mean(name, names) +
                    (known.empty() ? "; all its sizes are fixed" : "; it has: " + known));
  }
  if (value < it->min || value > it->max) {
    throw Error(ErrorKind::kUsage, "--bind " + std::string(name) + "=" + std::to_string(value) +
                                       ": the model declares the range " + range_text(*it));
  }
  it->value = value;
  evaluate();
}

}  // namespace tmeter::core
