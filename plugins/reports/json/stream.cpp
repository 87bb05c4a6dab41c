#include "stream.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace json_report {
namespace {

constexpr size_t kBufferBytes = 1 << 16;

bool needs_no_escape(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void Stream::separate() {
  if (comma_) buffer_ += ',';
  comma_ = false;
  if (buffer_.size() < kBufferBytes) return;
  out_.write(buffer_);
  buffer_.clear();
}

Stream& Stream::put_value(std::string_view value) {
  separate();
  buffer_ += value;
  comma_ = true;
  return *this;
}

void Stream::put_text(std::string_view value) {
  if (needs_no_escape(value))
    buffer_.append(1, '"').append(value).append(1, '"');
  else
    buffer_ += dump(Json(value));
}

Stream& Stream::open(char bracket) {
  separate();
  buffer_ += bracket;
  return *this;
}

Stream& Stream::close(char bracket) {
  buffer_ += bracket;
  comma_ = true;
  return *this;
}

Stream& Stream::key(std::string_view name) {
  separate();
  put_text(name);
  buffer_ += ':';
  return *this;
}

Stream& Stream::text(std::string_view value) {
  separate();
  put_text(value);
  comma_ = true;
  return *this;
}

Stream& Stream::integer(int64_t value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return put_value({digits.data(), static_cast<size_t>(end - digits.data())});
}

Stream& Stream::real(double value) { return put_value(dump(Json(value))); }
Stream& Stream::boolean(bool value) { return put_value(value ? "true" : "false"); }
Stream& Stream::null() { return put_value("null"); }
Stream& Stream::json(const Json& value) { return put_value(dump(value)); }

Stream& Stream::line(size_t indent) {
  separate();
  buffer_.append(1, '\n').append(indent, ' ');
  return *this;
}

Stream& Stream::end_line(size_t indent) {
  comma_ = false;
  return line(indent);
}

void Stream::section(std::string_view name, const Json& value) {
  line(kMemberIndent).key(name).json(value);
}

void Stream::section_lines(std::string_view name, const Json& value) {
  if (value.empty()) return section(name, value);
  const bool object = value.is_object();
  line(kMemberIndent).key(name).open(object ? '{' : '[');
  for (const auto& [label, item] : value.items()) {
    line(kItemIndent);
    if (object) key(label);
    json(item);
  }
  end_line(kMemberIndent).close(object ? '}' : ']');
}

void Stream::finish() {
  buffer_ += '\n';
  out_.write(buffer_);
  buffer_.clear();
}

}  // namespace json_report
