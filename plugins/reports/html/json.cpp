#include "json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace html_report {
namespace {

constexpr size_t kBufferBytes = 1 << 16;
constexpr int64_t kExact = int64_t{1} << 53;

bool needs_no_escape(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
}

std::string quoted(std::string_view text) {
  if (needs_no_escape(text)) return "\"" + std::string(text) + "\"";
  using Value = nlohmann::json;
  return Value(text).dump(-1, ' ', false, Value::error_handler_t::replace);
}

template <class T>
std::string digits(T value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

bool is_exact(int64_t value) { return value <= kExact && value >= -kExact; }

}  // namespace

void Json::separate() {
  if (comma_) buffer_ += ',';
  comma_ = false;
  if (buffer_.size() < kBufferBytes) return;
  block_.write(buffer_);
  buffer_.clear();
}

Json& Json::put(std::string_view value) {
  separate();
  buffer_ += value;
  comma_ = true;
  return *this;
}

Json& Json::open(char bracket) {
  separate();
  buffer_ += bracket;
  return *this;
}

Json& Json::close(char bracket) {
  buffer_ += bracket;
  comma_ = true;
  return *this;
}

Json& Json::key(std::string_view name) {
  separate();
  buffer_ += quoted(name);
  buffer_ += ':';
  return *this;
}

Json& Json::text(std::string_view value) { return put(quoted(value)); }
Json& Json::integer(int64_t value) { return put(digits(value)); }
Json& Json::real(double value) { return put(digits(value)); }

Json& Json::exact(int64_t value) {
  return is_exact(value) ? integer(value) : text("i" + digits(value));
}

Json& Json::cell(const tmeter::Cell& cell) {
  if (cell.is_int()) return exact(cell.count().value());
  if (cell.is_zero_by_rule()) return text("0");
  if (cell.is_unknown()) return text("?");
  if (cell.is_unavailable()) return text("-");
  if (cell.in_module()) return text("^");
  if (cell.empty()) return null();
  const double v = cell.real();
  if (std::isfinite(v)) return real(v);
  return text(std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
}

void Json::finish() {
  block_.write(buffer_);
  buffer_.clear();
  block_.finish();
}

}  // namespace html_report
