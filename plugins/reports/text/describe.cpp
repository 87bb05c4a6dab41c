#include "reading.hpp"
#include "trees.hpp"

namespace text_report {
namespace {

constexpr size_t kItemsShown = 4;  // of a list

std::string describe_tensor(const tmeter::Value& value) {
  std::string text(value.dtype().code());
  text += '[';
  const auto shape = value.shape();
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i) text += ", ";
    if (const auto symbol = value.dim_text(i); !symbol.empty()) text.append(symbol) += '=';
    text += std::to_string(shape[i]);
  }
  return text += ']';
}

std::string describe_list(const tmeter::Value& value) {
  std::string text = "[";
  for (size_t i = 0; i < value.size(); ++i) {
    if (i) text += ", ";
    if (i == kItemsShown) {
      text += "… " + std::to_string(value.size() - i) + " more";
      break;
    }
    text += describe(value[i]);
  }
  return text += ']';
}

}  // namespace

std::string describe(const tmeter::Value& value) {
  switch (value.kind()) {
    case TMETER_VALUE_TENSOR:
      return describe_tensor(value);
    case TMETER_VALUE_LIST:
      return describe_list(value);
    case TMETER_VALUE_INT:
      return std::to_string(value.as_int());
    case TMETER_VALUE_FLOAT:
      return plain_number(value.as_float());
    case TMETER_VALUE_BOOL:
      return value.as_bool() ? "true" : "false";
    case TMETER_VALUE_NONE:
      return "none";
    case TMETER_VALUE_DTYPE:
      return std::string(tmeter::DType(static_cast<int32_t>(value.as_int())).name());
    default:
      return std::string(value.text());
  }
}

}  // namespace text_report
