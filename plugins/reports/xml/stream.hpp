// Writes XML text piece by piece; keeps a buffer and the names of open elements. A document tree of
// a hundred thousand operators, as pugixml builds it, takes hundreds of MB.
//
//   stream.open("node").attribute("op", "aten::relu");
//   stream.element("location").text("net.py:3");
//   stream.close();
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "../common/buffer.hpp"

namespace xml_report {

class Stream {
 public:
  explicit Stream(tmeter::Output& out);

  /// Starts an element with others inside. Names are literals.
  Stream& open(std::string_view name);
  Stream& close();
  /// Starts an element without inner elements. It ends when the next one starts.
  Stream& element(std::string_view name);

  /// An attribute of the last element started. Text from model files is made safe: characters that
  /// XML 1.0 cannot hold – control characters, invalid UTF-8 – become U+FFFD.
  Stream& attribute(std::string_view name, std::string_view value);
  Stream& attribute(std::string_view name, const char* value) {
    return attribute(name, std::string_view(value));
  }
  Stream& attribute(std::string_view name, const std::string& value) {
    return attribute(name, std::string_view(value));
  }
  Stream& attribute(std::string_view name, int64_t value) {
    return attribute(name, std::to_string(value));
  }
  Stream& attribute(std::string_view name, size_t value) {
    return attribute(name, std::to_string(value));
  }
  /// Left out if empty.
  Stream& optional(std::string_view name, std::string_view value) {
    return value.empty() ? *this : attribute(name, value);
  }
  /// Inside the element begun by `element`.
  Stream& text(std::string_view value);

  void finish();

 private:
  void end_tag();
  void indent();

  reports::Buffer buffer_;
  std::vector<std::string_view> open_;
  std::string_view leaf_;  // begun by `element` and not ended yet
  bool in_tag_ = false;    // "<name" is written, ">" is not
  bool has_text_ = false;  // the leaf has
};

}  // namespace xml_report
