#include "metadata_push.hpp"

#include <algorithm>
#include <string>
#include <tmeter/cpp/utf8.hpp>

namespace gguf {
namespace {

constexpr std::string_view kSpace = "gguf";
// Sizes per layer are kept whole; a vocabulary is not.
constexpr uint64_t kMostNumbers = 2'000, kMostTexts = 100;
constexpr uint64_t kOfLongOnes = 8;
constexpr size_t kMostBytes = 64 * 1024;

/// At most 64 KiB of it, with U+FFFD for bytes that are not UTF-8.
std::string clean(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size() && out.size() < kMostBytes) {
    const auto [code, bytes] = tmeter::decode_utf8(text.substr(at));
    out += code == tmeter::kInvalidUtf8 ? "\uFFFD" : text.substr(at, bytes);
    at += bytes;
  }
  return at < text.size() ? out + "…" : out;
}

uint64_t kept(const Value& value) {
  const auto most = value.type == ValueType::kText ? kMostTexts : kMostNumbers;
  return value.length <= most ? value.length : kOfLongOnes;
}

template <class T>
std::vector<T> all_as(const std::vector<Scalar>& items) {
  std::vector<T> out;
  for (const auto& item : items)
    out.push_back(std::visit(
        [](const auto& x) {
          if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::string_view>)
            return T{};
          else
            return static_cast<T>(x);
        },
        item));
  return out;
}

template <class T>
bool any_is(const std::vector<Scalar>& items) {
  return std::any_of(items.begin(), items.end(),
                     [](const Scalar& s) { return std::holds_alternative<T>(s); });
}

void push_array(const Value& v, const std::vector<Scalar>& items, tmeter::GraphBuilder& graph) {
  const auto length = static_cast<int64_t>(v.length);
  switch (v.type) {
    case ValueType::kText: {
      std::vector<std::string> texts;
      for (const auto& item : items) texts.push_back(clean(std::get<std::string_view>(item)));
      std::vector<tmeter_str> views;
      for (const auto& text : texts) views.push_back(tmeter::to_abi(text));
      return graph.metadata(kSpace, v.key, std::span<const tmeter_str>(views), length);
    }
    case ValueType::kBool:
      return graph.metadata_bools(kSpace, v.key, all_as<int64_t>(items), length);
    case ValueType::kFloat32:
    case ValueType::kFloat64:
      return graph.metadata(kSpace, v.key, std::span<const double>(all_as<double>(items)), length);
    default:
      if (any_is<double>(items))  // beyond 63 bits
        return graph.metadata(kSpace, v.key, std::span<const double>(all_as<double>(items)),
                              length);
      return graph.metadata(kSpace, v.key, std::span<const int64_t>(all_as<int64_t>(items)),
                            length);
  }
}

void push_scalar(std::string_view key, const Scalar& scalar, tmeter::GraphBuilder& graph) {
  if (const auto* text = std::get_if<std::string_view>(&scalar))
    return graph.metadata(kSpace, key, std::string_view(clean(*text)));
  if (const auto* i = std::get_if<int64_t>(&scalar)) return graph.metadata(kSpace, key, *i);
  if (const auto* x = std::get_if<double>(&scalar)) return graph.metadata(kSpace, key, *x);
  graph.metadata(kSpace, key, std::get<bool>(scalar));
}

}  // namespace

void push_metadata(const Metadata& metadata, tmeter::GraphBuilder& graph) {
  for (const auto& v : metadata.values()) {
    if (v.type == ValueType::kArray) continue;
    const auto items = metadata.items(v, kept(v));
    if (v.is_array) {
      push_array(v, items, graph);
    } else {
      push_scalar(v.key, items[0], graph);
    }
  }
}

}  // namespace gguf
