// The JSON of a saved report: split into pieces, and each piece as a value.
#pragma once
#include <simdjson.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tmeter::core::report_reader {

// Splits a JSON text from the outside into the members of an object or the items of a list, so that
// a report is read row by row and never held as a whole. Only brackets and quotes inside a piece
// are checked; parsing it decides whether it is JSON.

/// Calls `member` with the key, quotes included, and the value. Throws Error(kModel) unless the
/// text is an object.
void for_each_member(
    std::string_view text,
    const std::function<void(std::string_view key, std::string_view value)>& member);

/// The same with the items of a list.
void for_each_item(std::string_view text, const std::function<void(std::string_view item)>& item);

// Parsed pieces of a report: typed access; errors name the place and the expected type.

[[noreturn]] void refuse(const std::string& what);

class Members;

/// A value with its name for messages.
class Item {
 public:
  Item(simdjson::dom::element value, std::string_view name) : value_(value), name_(name) {}
  bool is_null() const { return value_.is_null(); }
  bool is(simdjson::dom::element_type type) const { return value_.type() == type; }
  simdjson::dom::element_type type() const { return value_.type(); }
  std::string_view name() const { return name_; }
  simdjson::dom::element raw() const { return value_; }

  // Each throws Error(kModel) for a value of another type.
  std::string_view text() const;
  int64_t integer() const;
  uint64_t natural() const;
  /// An index below `count`.
  size_t index(size_t count) const;
  double real() const;
  bool boolean() const;
  simdjson::dom::array list() const;
  Members members() const;

 private:
  template <class T>
  T as(const char* expected) const;
  simdjson::dom::element value_;
  std::string_view name_;
};

/// An object in which no key occurs twice.
class Members {
 public:
  /// Throws Error(kModel) for a key that occurs twice: readers disagree about which one counts.
  explicit Members(simdjson::dom::object object);

  /// Throws Error(kModel) if it is absent.
  Item at(std::string_view key) const;
  /// Empty if it is absent.
  std::optional<Item> get(std::string_view key) const;
  /// Absent and null are the same.
  std::optional<Item> find(std::string_view key) const;
  /// Empty when absent or null.
  std::string_view text(std::string_view key) const;
  simdjson::dom::object object() const { return object_; }

 private:
  simdjson::dom::object object_;
};

/// Parses pieces of one text. Results are valid until the next call.
class Parser {
 public:
  explicit Parser(std::string_view whole) : end_(whole.data() + whole.size()) {}
  /// Throws Error(kModel) for invalid JSON, std::bad_alloc without memory.
  Item parse(std::string_view piece, std::string_view name);

 private:
  const char* end_;
  simdjson::dom::parser parser_;
};

}  // namespace tmeter::core::report_reader
