#include "json_stream.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

namespace reports {
namespace {

using Json = nlohmann::json;

constexpr uint64_t every(uint8_t byte) { return uint64_t{byte} * 0x0101010101010101; }

/// Not zero if one of the bytes cannot be copied unchanged: '"', '\\', and bytes that are not
/// printable ASCII.
constexpr uint64_t escape_mask(uint64_t word) {
  const auto zeros = [](uint64_t w) { return (w - every(1)) & ~w; };  // result in the highest bits
  const uint64_t controls = (word - every(0x20)) & ~word;
  return (word | controls | zeros(word ^ every('"')) | zeros(word ^ every('\\')) |
          zeros(word ^ every(0x7F))) &
         every(0x80);
}

using ByteVector = uint8_t __attribute__((vector_size(16)));

/// Not zero where a byte is unusual.
auto escape_mask(ByteVector bytes) {
  return (bytes < 0x20) | (bytes > 0x7E) | (bytes == '"') | (bytes == '\\');
}

bool any(decltype(escape_mask(ByteVector())) found) {
  uint64_t halves[2];
  std::memcpy(halves, &found, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

bool any(uint64_t found) { return found != 0; }

/// Copies a text of at least one `Word`; the last word may overlap the previous one.
template <class Word>
bool copy_words(std::string_view text, char* to) {
  const auto copy = [&](size_t i) {
    Word word;
    std::memcpy(&word, text.data() + i, sizeof word);
    std::memcpy(to + i, &word, sizeof word);
    return escape_mask(word);
  };
  auto found = copy(text.size() - sizeof(Word));
  for (size_t i = 0; i + sizeof(Word) < text.size(); i += sizeof(Word)) found |= copy(i);
  return !any(found);
}

/// Copies a text and returns true if it needs no escapes; otherwise the copy is incomplete.
bool copy_usual(std::string_view text, char* to) {
  if (text.size() >= sizeof(ByteVector)) return copy_words<ByteVector>(text, to);
  if (text.size() >= sizeof(uint64_t)) return copy_words<uint64_t>(text, to);
  if (text.empty()) return true;  // its data may be null
  uint64_t word = every(' ');
  std::memcpy(&word, text.data(), text.size());
  std::memcpy(to, &word, text.size());
  return !any(escape_mask(word));
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

constexpr size_t kPiece = 4096;    // bytes of a text escaped at a time
constexpr size_t kMaxDigits = 24;  // of a 64-bit number

/// The first bytes of a text, up to a limit, without cutting a UTF-8 sequence.
std::string_view first_piece(std::string_view text) {
  constexpr size_t kMaxSequence = 4;
  if (text.size() <= kPiece) return text;
  size_t end = kPiece;
  while (end > kPiece - kMaxSequence && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

JsonStream::JsonStream(Sink sink)
    : sink_(std::move(sink)), buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}
JsonStream::JsonStream(tmeter::Output& out)
    : JsonStream([&out](std::string_view text) { out.write(text); }) {}
JsonStream::JsonStream() : buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}

void JsonStream::flush() {
  sink_(made());
  used_ = 0;
}

/// A single request is far smaller than the buffer.
void JsonStream::more_room() {
  if (sink_) return flush();
  auto larger = std::make_unique_for_overwrite<char[]>(2 * capacity_);
  std::memcpy(larger.get(), buffer_.get(), used_);
  buffer_ = std::move(larger);
  capacity_ *= 2;
}

JsonStream& JsonStream::items(std::string_view made) {
  separate(0);
  flush();
  sink_(made);
  comma_ = true;
  return *this;
}

void JsonStream::put_any(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, kPiece);
    make_room(piece.size());
    put(piece);
    bytes.remove_prefix(piece.size());
  }
}

JsonStream& JsonStream::put_value(std::string_view value) {
  separate(0);
  put_any(value);
  comma_ = true;
  return *this;
}

void JsonStream::put_piece(std::string_view piece) {
  make_room(piece.size());
  if (copy_usual(piece, buffer_.get() + used_)) {
    used_ += piece.size();
    return;
  }
  const auto text = dump(Json(piece));
  put_any(std::string_view(text).substr(1, text.size() - 2));
}

/// Texts come from model files and may be as long as the file.
void JsonStream::put_text(std::string_view value) {
  make_room(value.size() <= kPiece ? value.size() + 3 : 1);
  put('"');
  if (value.size() <= kPiece && copy_usual(value, buffer_.get() + used_)) {
    used_ += value.size();
  } else {
    for (; !value.empty(); value.remove_prefix(first_piece(value).size()))
      put_piece(first_piece(value));
    make_room(2);
  }
  put('"');
}

JsonStream& JsonStream::key(std::string_view name) {
  separate(0);
  put_text(name);
  put(':');
  return *this;
}

JsonStream& JsonStream::ready_key(std::string_view quoted) {
  separate(0);
  put_any(quoted);
  return *this;
}

JsonStream& JsonStream::text(std::string_view value) {
  separate(0);
  put_text(value);
  comma_ = true;
  return *this;
}

JsonStream& JsonStream::integer(int64_t value) {
  separate(kMaxDigits);
  auto* const at = buffer_.get() + used_;
  used_ += static_cast<size_t>(std::to_chars(at, at + kMaxDigits, value).ptr - at);
  comma_ = true;
  return *this;
}

JsonStream& JsonStream::natural(uint64_t value) {
  separate(kMaxDigits);
  auto* const at = buffer_.get() + used_;
  used_ += static_cast<size_t>(std::to_chars(at, at + kMaxDigits, value).ptr - at);
  comma_ = true;
  return *this;
}

/// Formats reals like nlohmann's dump, without constructing a value.
JsonStream& JsonStream::real(double value) {
  if (!std::isfinite(value)) return null();
  constexpr size_t kMaxLength = 64;
  separate(kMaxLength);
  auto* const at = buffer_.get() + used_;
  used_ += static_cast<size_t>(nlohmann::detail::to_chars(at, at + kMaxLength, value) - at);
  comma_ = true;
  return *this;
}

JsonStream& JsonStream::shortest(double value) {
  if (!std::isfinite(value)) return null();
  separate(kMaxDigits + 8);
  auto* const at = buffer_.get() + used_;
  used_ += static_cast<size_t>(std::to_chars(at, at + kMaxDigits + 8, value).ptr - at);
  comma_ = true;
  return *this;
}

JsonStream& JsonStream::boolean(bool value) { return put_value(value ? "true" : "false"); }
JsonStream& JsonStream::null() { return put_value("null"); }

JsonStream& JsonStream::number(const tmeter::Cell& cell) {
  if (cell.is_int()) return integer(cell.count().value());
  if (cell.is_number()) return real(cell.real());
  return cell.is_zero_by_rule() ? integer(0) : null();
}

JsonStream& JsonStream::line(size_t indent) {
  separate(1 + indent);
  put('\n');
  for (size_t i = 0; i < indent; ++i) put(' ');
  return *this;
}

JsonStream& JsonStream::end_line(size_t indent) {
  comma_ = false;
  return line(indent);
}

void JsonStream::finish() {
  make_room(1);
  put('\n');
  flush();
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (; !name.empty(); name.remove_prefix(first_piece(name).size())) {
    const auto piece = dump(Json(first_piece(name)));
    text.append(piece, 1, piece.size() - 2);
  }
  return text += "\":";
}

}  // namespace reports
