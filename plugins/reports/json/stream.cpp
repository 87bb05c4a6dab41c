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

/// The first bytes of a text, up to a limit, without cutting a UTF-8 sequence.
std::string_view first_piece(std::string_view text) {
  constexpr size_t kPiece = 4096, kLongestSequence = 4;
  if (text.size() <= kPiece) return text;
  size_t end = kPiece;
  while (end > kPiece - kLongestSequence && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

void Stream::separate() {
  if (comma_) buffer_ += ',';
  comma_ = false;
  flush_if_full();
}

void Stream::flush_if_full() {
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

/// Texts come from model files and may be as long as these.
void Stream::put_text(std::string_view value) {
  buffer_ += '"';
  while (!value.empty()) {
    const auto piece = first_piece(value);
    if (needs_no_escape(piece)) {
      buffer_ += piece;
    } else {
      const auto quoted = dump(Json(piece));
      buffer_.append(quoted, 1, quoted.size() - 2);
    }
    flush_if_full();
    value.remove_prefix(piece.size());
  }
  buffer_ += '"';
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

void Stream::section_lines(std::string_view name, const Json& object) {
  if (object.empty()) return section(name, object);
  line(kMemberIndent).key(name).open('{');
  for (const auto& [label, item] : object.items()) line(kItemIndent).key(label).json(item);
  end_line(kMemberIndent).close('}');
}

void Stream::finish() {
  buffer_ += '\n';
  out_.write(buffer_);
  buffer_.clear();
}

}  // namespace json_report
