// JSON text as it is written, with nothing kept in memory but a buffer, however long a report, a
// row or a text is: a report of a row per operator takes a fraction of the time that building and
// destroying values takes. Commas come by themselves; numbers and unusual text are nlohmann's.
//
//   stream.open('{').key("op").text("aten::relu").key("shape").open('[').integer(1).close(']')
//       .close('}');
#pragma once
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tmeter/cpp/report.hpp>

namespace json_report {

/// For what is short. Keeps members in the order in which they are set.
using Json = nlohmann::ordered_json;

class Stream {
 public:
  explicit Stream(tmeter::Output& out);
  /// Into memory that grows, for what `items` and `members` put into another stream.
  Stream();
  /// Begins such a text anew.
  void start() {
    used_ = 0;
    comma_ = false;
  }
  /// Such a text, which stays until the stream is written to.
  std::string_view made() const { return {buffer_.get(), used_}; }

  Stream& open(char bracket) {
    separate(1);
    put(bracket);
    return *this;
  }
  Stream& close(char bracket) {
    make_room(1);
    put(bracket);
    comma_ = true;
    return *this;
  }
  Stream& key(std::string_view name);
  /// A literal is printable ASCII without quotes and backslashes.
  template <size_t N>
  Stream& key(const char (&literal)[N]) {
    separate(N + 2);
    char* const at = buffer_.get() + used_;
    at[0] = '"';
    std::memcpy(at + 1, literal, N - 1);
    at[N] = '"';
    at[N + 1] = ':';
    used_ += N + 2;
    return *this;
  }
  /// A key that `quoted` has made ready: for those that come with every row.
  Stream& ready_key(std::string_view quoted);
  /// Names come from model files: what is not UTF-8 becomes U+FFFD instead of an error.
  Stream& text(std::string_view value);
  Stream& integer(int64_t value);
  Stream& real(double value);  // finite
  Stream& boolean(bool value);
  Stream& null();
  Stream& json(const Json& value);
  Stream& text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }

  /// The next member or item, or the closing bracket, starts a new line, `indent` spaces in.
  Stream& line(size_t indent);
  Stream& end_line(size_t indent);

  /// A key on its own line, with a value on the same line, or with one member or item per line.
  void section(std::string_view name, const Json& value);
  void section_lines(std::string_view name, const Json& object);
  /// A list, one item per line, each made when it is its turn: make(item) → Json.
  template <class Items, class Make>
  void list_lines(std::string_view name, const Items& items, Make&& make);

  /// Members or items that another stream has made, one at least: a few, or a great many.
  Stream& members(std::string_view made) { return put_value(made); }
  Stream& items(std::string_view made);
  /// Ends the last line and writes what is left.
  void finish();

 private:
  static constexpr size_t kBufferBytes = 1 << 16;

  /// From what came before on this level; afterwards there is room for so many bytes.
  void separate(size_t room) {
    make_room(room + 1);
    if (comma_) put(',');
    comma_ = false;
  }
  void make_room(size_t bytes) {
    if (capacity_ - used_ < bytes) more_room();
  }
  void more_room();
  void flush();
  void put(char c) { buffer_[used_++] = c; }
  void put(std::string_view bytes) {  // there is room
    std::memcpy(buffer_.get() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  void put_any(std::string_view bytes);
  Stream& put_value(std::string_view value);
  void put_text(std::string_view value);
  void put_piece(std::string_view piece);

  tmeter::Output* out_ = nullptr;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = kBufferBytes, used_ = 0;
  bool comma_ = false;
};

/// The text as a key: in quotes, with what follows a key.
std::string quoted(std::string_view name);

/// Members of the report, one indent in; items of its lists, two.
inline constexpr size_t kMemberIndent = 2, kItemIndent = 4;

template <class Items, class Make>
void Stream::list_lines(std::string_view name, const Items& items, Make&& make) {
  line(kMemberIndent).key(name).open('[');
  bool any = false;
  for (const auto& item : items) {
    line(kItemIndent).json(make(item));
    any = true;
  }
  if (any) end_line(kMemberIndent);
  close(']');
}

}  // namespace json_report
