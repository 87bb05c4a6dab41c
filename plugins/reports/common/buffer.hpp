// Buffered output: small pieces of text are collected and passed on in large ones.
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>

namespace reports {

class Buffer {
 public:
  explicit Buffer(tmeter::Output& out) : out_(out) {}
  Buffer& operator<<(std::string_view text) {
    text_ += text;
    if (text_.size() >= kFlushBytes) flush();
    return *this;
  }
  void flush() {
    out_.write(text_);
    text_.clear();
  }

 private:
  static constexpr size_t kFlushBytes = 1 << 16;
  tmeter::Output& out_;
  std::string text_;
};

}  // namespace reports
