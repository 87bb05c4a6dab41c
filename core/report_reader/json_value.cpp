#include "core/report_reader/json_value.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core::report_reader {
namespace {

namespace dom = simdjson::dom;

[[noreturn]] void refuse_repeated(std::string_view key) {
  refuse("the key '" + printable(key) +
         "' occurs twice, and readers disagree about which one counts");
}

/// Few keys: each against those before it.
template <size_t N>
void check_few_keys(dom::object object) {
  std::array<std::string_view, N> seen;
  size_t count = 0;
  for (const auto field : object) {
    if (std::find(seen.begin(), seen.begin() + count, field.key) != seen.begin() + count)
      refuse_repeated(field.key);
    seen[count++] = field.key;
  }
}

/// Many keys: sorted, so that no file can make it slow.
void check_many_keys(dom::object object) {
  std::vector<std::string_view> keys;
  for (const auto field : object) keys.push_back(field.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) refuse_repeated(*twice);
}

}  // namespace

void refuse(const std::string& what) { throw Error(ErrorKind::kModel, what); }

template <class T>
T Item::as(const char* expected) const {
  T value{};
  if (value_.get(value) != simdjson::SUCCESS)
    refuse("'" + printable(name_) + "' must be " + expected);
  return value;
}

std::string_view Item::text() const { return as<std::string_view>("a text"); }
int64_t Item::integer() const { return as<int64_t>("a 64-bit integer"); }
uint64_t Item::natural() const { return as<uint64_t>("a whole number that is not negative"); }
double Item::real() const { return as<double>("a number"); }
bool Item::boolean() const { return as<bool>("true or false"); }
dom::array Item::list() const { return as<dom::array>("a list"); }
Members Item::members() const { return Members(as<dom::object>("an object")); }

size_t Item::index(size_t count) const {
  const auto i = natural();
  if (i >= count)
    refuse("'" + printable(name_) + "' is " + std::to_string(i) + ", and there are only " +
           std::to_string(count));
  return i;
}

Members::Members(dom::object object) : object_(object) {
  constexpr size_t kMaxComparedKeys = 32;
  object.size() <= kMaxComparedKeys ? check_few_keys<kMaxComparedKeys>(object) : check_many_keys(object);
}

std::optional<Item> Members::get(std::string_view key) const {
  dom::element value;
  if (object_.at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  return Item(value, key);
}

Item Members::at(std::string_view key) const {
  const auto item = get(key);
  if (!item) refuse("there is no '" + std::string(key) + "'");
  return *item;
}

std::optional<Item> Members::find(std::string_view key) const {
  auto item = get(key);
  return item && !item->is_null() ? item : std::nullopt;
}

std::string_view Members::text(std::string_view key) const {
  const auto item = find(key);
  return item ? item->text() : std::string_view();
}

Item Parser::parse(std::string_view piece, std::string_view name) {
  if (piece.size() > std::numeric_limits<uint32_t>::max()) refuse("it has a row beyond 4 GiB");
  const bool padded =
      static_cast<size_t>(end_ - piece.data()) >= piece.size() + simdjson::SIMDJSON_PADDING;
  dom::element value;
  const auto error = parser_.parse(piece.data(), piece.size(), !padded).get(value);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error == simdjson::DEPTH_ERROR)
    refuse("its lists and objects are nested more than 1,024 deep");
  if (error != simdjson::SUCCESS)
    refuse(std::string("this is not valid JSON: ") + simdjson::error_message(error));
  return {value, name};
}

}  // namespace tmeter::core::report_reader
