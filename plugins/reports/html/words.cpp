#include "words.hpp"

#include "plugins/common/wording.hpp"

namespace html_report {
namespace {

using tmeter::Value;

constexpr size_t kMaxItems = 64;  // of a list

std::string in_brackets(size_t n, const std::function<std::string(size_t)>& item) {
  return "[" + plugins::listed(n, kMaxItems, item) + "]";
}

// The dims as the file writes them, with their values: "[batch=2, 3]".
std::string tensor(const Value& value) {
  const auto shape = value.shape();
  const auto dim = [&](size_t i) {
    const auto at = static_cast<int64_t>(i);
    const auto symbol = value.dim_text(at);
    const auto size = std::to_string(shape[at]);
    return symbol.empty() || symbol == size ? size : std::string(symbol) + "=" + size;
  };
  return std::string(value.dtype().name()) + in_brackets(static_cast<size_t>(shape.rank()), dim);
}

}  // namespace

std::string words(const tmeter::Tensor& tensor) {
  const auto shape = tensor.shape();
  return std::string(tensor.type_name()) +
         in_brackets(static_cast<size_t>(shape.rank()),
                     [&](size_t i) { return std::to_string(shape[static_cast<int64_t>(i)]); });
}

std::string words(const Value& value) {
  switch (value.kind()) {
    case TMETER_VALUE_TENSOR:
      return tensor(value);
    case TMETER_VALUE_INT:
      return std::to_string(value.as_int());
    case TMETER_VALUE_FLOAT:
      return tmeter::general(value.as_float(), 10);
    case TMETER_VALUE_BOOL:
      return value.as_bool() ? "true" : "false";
    case TMETER_VALUE_NONE:
      return "none";
    case TMETER_VALUE_DTYPE:
      return std::string(tmeter::DType(static_cast<int32_t>(value.as_int())).name());
    case TMETER_VALUE_LIST:
      return in_brackets(value.size(), [&](size_t i) { return words(value[i]); });
    default:
      return std::string(value.text());
  }
}

std::string arguments(const tmeter::Node& node) {
  std::string lines;
  for (size_t i = 0; i < node.arg_count(); ++i) {
    const auto value = node.arg(i);
    if (value.is_none()) continue;
    const auto name = node.arg_name(i);
    lines += lines.empty() ? "" : "\n";
    lines += (name.empty() ? "#" + std::to_string(i) : std::string(name)) + ": " + words(value);
  }
  return lines;
}

std::string results(const tmeter::Node& node) {
  return plugins::listed(node.result_count(), kMaxItems,
                         [&](size_t i) { return words(node.result(i)); });
}

}  // namespace html_report
