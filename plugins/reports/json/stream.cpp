#include "stream.hpp"

#include <charconv>
#include <cstring>

namespace json_report {
namespace {

constexpr uint64_t every(uint8_t byte) { return uint64_t{byte} * 0x0101010101010101; }

/// Not zero if one of the bytes needs more than to be copied: what is no printable ASCII, '"',
/// '\\'.
constexpr uint64_t unusual(uint64_t word) {
  const auto zeros = [](uint64_t w) { return (w - every(1)) & ~w; };  // in the highest bits
  const uint64_t controls = (word - every(0x20)) & ~word;
  return (word | controls | zeros(word ^ every('"')) | zeros(word ^ every('\\')) |
          zeros(word ^ every(0x7F))) &
         every(0x80);
}

using Sixteen = uint8_t __attribute__((vector_size(16)));

/// Not zero where a byte is unusual.
auto unusual(Sixteen bytes) {
  return (bytes < 0x20) | (bytes > 0x7E) | (bytes == '"') | (bytes == '\\');
}

bool any(decltype(unusual(Sixteen())) found) {
  uint64_t halves[2];
  std::memcpy(halves, &found, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

bool any(uint64_t found) { return found != 0; }

/// A text of one `Word` at least: word by word, the last one with some bytes before it.
template <class Word>
bool copy_words(std::string_view text, char* to) {
  const auto copy = [&](size_t i) {
    Word word;
    std::memcpy(&word, text.data() + i, sizeof word);
    std::memcpy(to + i, &word, sizeof word);
    return unusual(word);
  };
  auto found = copy(text.size() - sizeof(Word));
  for (size_t i = 0; i + sizeof(Word) < text.size(); i += sizeof(Word)) found |= copy(i);
  return !any(found);
}

/// Copies a text that needs no escape; of another one nobody knows how much.
bool copy_usual(std::string_view text, char* to) {
  if (text.size() >= sizeof(Sixteen)) return copy_words<Sixteen>(text, to);
  if (text.size() >= sizeof(uint64_t)) return copy_words<uint64_t>(text, to);
  if (text.empty()) return true;  // and may have no address
  uint64_t word = every(' ');
  std::memcpy(&word, text.data(), text.size());
  std::memcpy(to, &word, text.size());
  return !any(unusual(word));
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

constexpr size_t kPiece = 4096;

/// The first bytes of a text, up to a limit, without cutting a UTF-8 sequence.
std::string_view first_piece(std::string_view text) {
  constexpr size_t kLongestSequence = 4;
  if (text.size() <= kPiece) return text;
  size_t end = kPiece;
  while (end > kPiece - kLongestSequence && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

Stream::Stream(tmeter::Output& out)
    : out_(&out), buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}
Stream::Stream() : buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}

void Stream::flush() {
  out_->write(made());
  used_ = 0;
}

/// What is asked for at a time is far less than a buffer.
void Stream::more_room() {
  if (out_) return flush();
  auto larger = std::make_unique_for_overwrite<char[]>(2 * capacity_);
  std::memcpy(larger.get(), buffer_.get(), used_);
  buffer_ = std::move(larger);
  capacity_ *= 2;
}

Stream& Stream::items(std::string_view made) {
  separate(0);
  flush();
  out_->write(made);
  comma_ = true;
  return *this;
}

void Stream::put_any(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, kPiece);
    make_room(piece.size());
    put(piece);
    bytes.remove_prefix(piece.size());
  }
}

Stream& Stream::put_value(std::string_view value) {
  separate(0);
  put_any(value);
  comma_ = true;
  return *this;
}

void Stream::put_piece(std::string_view piece) {
  make_room(piece.size());
  if (copy_usual(piece, buffer_.get() + used_)) {
    used_ += piece.size();
    return;
  }
  const auto text = dump(Json(piece));
  put_any(std::string_view(text).substr(1, text.size() - 2));
}

/// Texts come from model files and may be as long as these.
void Stream::put_text(std::string_view value) {
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

Stream& Stream::key(std::string_view name) {
  separate(0);
  put_text(name);
  put(':');
  return *this;
}

Stream& Stream::ready_key(std::string_view quoted) {
  separate(0);
  put_any(quoted);
  return *this;
}

Stream& Stream::text(std::string_view value) {
  separate(0);
  put_text(value);
  comma_ = true;
  return *this;
}

Stream& Stream::integer(int64_t value) {
  constexpr size_t kLongest = 24;
  separate(kLongest);
  auto* const at = buffer_.get() + used_;
  used_ += static_cast<size_t>(std::to_chars(at, at + kLongest, value).ptr - at);
  comma_ = true;
  return *this;
}

/// As nlohmann's dump writes them, which costs more around the number than for it.
Stream& Stream::real(double value) {
  constexpr size_t kLongest = 64;
  separate(kLongest);
  auto* const at = buffer_.get() + used_;
  used_ += static_cast<size_t>(nlohmann::detail::to_chars(at, at + kLongest, value) - at);
  comma_ = true;
  return *this;
}

Stream& Stream::boolean(bool value) { return put_value(value ? "true" : "false"); }
Stream& Stream::null() { return put_value("null"); }
Stream& Stream::json(const Json& value) { return put_value(dump(value)); }

Stream& Stream::line(size_t indent) {
  separate(1 + indent);
  put('\n');
  for (size_t i = 0; i < indent; ++i) put(' ');
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

}  // namespace json_report
