// Writes JSON text piece by piece through one buffer of fixed size, because
// building and destroying a tree of values takes several times as long. Commas are inserted. Reals
// and strings with escapes are formatted by nlohmann-json.
//
//   stream.open('{').key("op").text("aten::relu").key("shape").open('[').integer(1).close(']')
//       .close('}');
#pragma once
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <tmeter/cpp/report.hpp>

namespace reports {

/// Spaces before members of the report, and before items of its lists.
inline constexpr size_t kMemberIndent = 2, kItemIndent = 4;

class JsonStream {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit JsonStream(Sink sink);
  explicit JsonStream(tmeter::Output& out);
  /// Into memory that grows: text for `items` and `members` of another stream.
  JsonStream();
  /// Such a stream: starts a new text.
  void start() {
    used_ = 0;
    comma_ = false;
  }
  /// Its text, valid until the next write to the stream.
  std::string_view made() const { return {buffer_.get(), used_}; }

  JsonStream& open(char bracket) {
    separate(1);
    put(bracket);
    return *this;
  }
  JsonStream& close(char bracket) {
    make_room(1);
    put(bracket);
    comma_ = true;
    return *this;
  }
  JsonStream& key(std::string_view name);
  /// A literal is printable ASCII without quotes and backslashes.
  template <size_t N>
  JsonStream& key(const char (&literal)[N]) {
    separate(N + 2);
    char* const at = buffer_.get() + used_;
    at[0] = '"';
    std::memcpy(at + 1, literal, N - 1);
    at[N] = '"';
    at[N + 1] = ':';
    used_ += N + 2;
    return *this;
  }
  /// A key prepared by `quoted`: for keys that every row has.
  JsonStream& ready_key(std::string_view quoted);
  /// Names come from model files: invalid UTF-8 becomes U+FFFD instead of an error.
  JsonStream& text(std::string_view value);
  JsonStream& integer(int64_t value);
  JsonStream& natural(uint64_t value);
  /// Null unless finite.
  JsonStream& real(double value);
  /// Writes a real like std::to_chars: "1" instead of the "1.0" of `real`. Null unless finite.
  JsonStream& shortest(double value);
  JsonStream& boolean(bool value);
  JsonStream& null();
  /// 25557032, 0.0188, 0 for zero by rule; null for everything that is not a finite number.
  JsonStream& number(const tmeter::Cell& cell);
  /// Null when it is empty.
  JsonStream& text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }

  /// The next member or item, or the closing bracket, starts a new line, `indent` spaces in.
  JsonStream& line(size_t indent);
  JsonStream& end_line(size_t indent);

  /// A member of the report: a key on its own line. The value follows.
  JsonStream& member(std::string_view name) { return line(kMemberIndent).key(name); }
  /// Members with a list or an object of one item per line: write(item) writes the item's value, or
  /// its key and value.
  template <class Items, class Write>
  void list_lines(std::string_view name, const Items& items, Write&& write) {
    lines(name, '[', ']', items, write);
  }
  template <class Items, class Write>
  void object_lines(std::string_view name, const Items& items, Write&& write) {
    lines(name, '{', '}', items, write);
  }

  /// Inserts members or items that another stream has written, at least one.
  JsonStream& members(std::string_view made) { return put_value(made); }
  JsonStream& items(std::string_view made);
  /// Passes on the rest of the buffer.
  void flush();
  /// Ends the last line and passes on the rest of the buffer.
  void finish();

 private:
  template <class Items, class Write>
  void lines(std::string_view name, char begin, char end, const Items& items, Write&& write);
  static constexpr size_t kBufferBytes = 1 << 16;

  /// Writes the comma after the item before, if any, and makes room for `room` bytes.
  void separate(size_t room) {
    make_room(room + 1);
    if (comma_) put(',');
    comma_ = false;
  }
  void make_room(size_t bytes) {
    if (capacity_ - used_ < bytes) more_room();
  }
  void more_room();
  void put(char c) { buffer_[used_++] = c; }
  void put(std::string_view bytes) {  // the buffer has room
    std::memcpy(buffer_.get() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  void put_any(std::string_view bytes);
  JsonStream& put_value(std::string_view value);
  void put_text(std::string_view value);
  void put_piece(std::string_view piece);

  Sink sink_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = kBufferBytes, used_ = 0;
  bool comma_ = false;
};

/// The text as a key: quoted, with a colon.
std::string quoted(std::string_view name);

template <class Items, class Write>
void JsonStream::lines(std::string_view name, char begin, char end, const Items& items,
                       Write&& write) {
  member(name).open(begin);
  bool any = false;
  for (const auto& item : items) {
    line(kItemIndent);
    write(item);
    any = true;
  }
  if (any) end_line(kMemberIndent);
  close(end);
}

}  // namespace reports
