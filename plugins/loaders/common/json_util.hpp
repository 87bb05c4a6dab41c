// Typed access to parsed JSON. A mismatch throws a BadFile with the expected and the found type.
// Unknown keys are ignored, so that newer minor versions stay readable.
#pragma once
#include <simdjson.h>

#include <optional>

#include "bad_file.hpp"

namespace loading {

namespace json = simdjson::dom;

inline std::string_view type_name(json::element e) {
  switch (e.type()) {
    case json::element_type::ARRAY:
      return "a list";
    case json::element_type::OBJECT:
      return "an object";
    case json::element_type::STRING:
      return "a string";
    case json::element_type::BOOL:
      return "true or false";
    case json::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

[[noreturn]] inline void wrong_type(json::element found, std::string_view expected) {
  throw BadFile("expected " + std::string(expected) + ", found " + std::string(type_name(found)));
}

template <class T>
T as(json::element e, std::string_view expected) {
  T value{};
  if (e.get(value) != simdjson::SUCCESS) wrong_type(e, expected);
  return value;
}

inline std::string_view as_text(json::element e) { return as<std::string_view>(e, "a string"); }
inline int64_t as_integer(json::element e) { return as<int64_t>(e, "a 64-bit integer"); }
inline bool as_bool(json::element e) { return as<bool>(e, "true or false"); }
inline json::object as_object(json::element e) { return as<json::object>(e, "an object"); }
inline json::array as_array(json::element e) { return as<json::array>(e, "a list"); }

/// Whether `key` equals a literal. The constant length makes this an instruction or two; a node
/// takes a hundred such comparisons.
template <size_t N>
bool is(std::string_view key, const char (&literal)[N]) {
  return key.size() == N - 1 && __builtin_memcmp(key.data(), literal, N - 1) == 0;
}

// Keys are literals, or strings where the key is not known at compile time.

inline std::optional<json::element> find(json::object o, std::string_view key) {
  json::element value;
  if (o.at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}
template <size_t N>
std::optional<json::element> find(json::object o, const char (&key)[N]) {
  for (const auto field : o)
    if (is(field.key, key)) return field.value;
  return std::nullopt;
}

/// Treats null as absent: newer versions write null for members that older ones omit.
template <class Key>
std::optional<json::element> find_set(json::object o, const Key& key) {
  const auto value = find(o, key);
  return value && !value->is_null() ? value : std::nullopt;
}

template <class Key>
json::element member(json::object o, const Key& key) {
  const auto value = find(o, key);
  if (!value) throw BadFile("there is no " + in_quotes(key));
  return *value;
}

/// Runs `read` on a member. Its BadFile is prefixed with the key.
template <class Key, class Read>
decltype(auto) read_member(json::object o, const Key& key, Read&& read) {
  const json::element value = member(o, key);
  return within([&] { return std::string_view(key); },
                [&]() -> decltype(auto) { return read(value); });
}

template <class Key>
json::object object_member(json::object o, const Key& key) {
  return read_member(o, key, as_object);
}
template <class Key>
json::array array_member(json::object o, const Key& key) {
  return read_member(o, key, as_array);
}
template <class Key>
std::string_view text_member(json::object o, const Key& key) {
  return read_member(o, key, as_text);
}

/// The reason for a parse error; completes "this is not valid JSON: …".
inline std::string explain(simdjson::error_code code) {
  switch (code) {
    case simdjson::DEPTH_ERROR:
      return "it is nested more than 1,024 levels deep";
    case simdjson::CAPACITY:
      return "it is larger than 4 GiB";
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::UNCLOSED_STRING:
      return "a string has no end (truncated?)";
    case simdjson::TAPE_ERROR:
      return "its commas, brackets or keys do not fit together (truncated?)";
    case simdjson::UTF8_ERROR:
      return "it is not UTF-8";
    default: {
      std::string text = simdjson::error_message(code);
      while (text.ends_with('.')) text.pop_back();
      return text;
    }
  }
}

}  // namespace loading
