// How findings, warnings and reports word numbers, lists of names and places in the model.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <tmeter/cpp/graph.hpp>
#include <tmeter/cpp/units.hpp>

#pragma GCC visibility push(hidden)
namespace plugins {

/// "12.3 %" of 0.123
inline std::string percent(double share) { return tmeter::fixed(100 * share, 1) + " %"; }

/// "1.20 GiB"
inline std::string bytes_text(double bytes) {
  return tmeter::scaled(bytes, TMETER_UNIT_BYTE, "B").text();
}
inline std::string bytes_text(tmeter::Count bytes) {
  return bytes_text(static_cast<double>(bytes.value()));
}

/// "1 tensor", "2 tensors"
inline std::string count_of(size_t n, const char* thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

/// "a, b, c and 7 more": the first `limit` of `n` items.
inline std::string listed(size_t n, size_t limit, const std::function<std::string(size_t)>& item) {
  std::string out;
  for (size_t i = 0; i < n && i < limit; ++i) out += (i ? ", " : "") + item(i);
  if (n > limit) out += " and " + std::to_string(n - limit) + " more";
  return out;
}

/// "layers.0.attention (aten::scaled_dot_product_attention)"; in the root module, only the
/// operator.
inline std::string place(const tmeter::Node& node) {
  const auto path = node.call() ? node.call().module().path() : std::string_view();
  return path.empty() ? std::string(node.op())
                      : std::string(path) + " (" + std::string(node.op()) + ")";
}

}  // namespace plugins
#pragma GCC visibility pop
