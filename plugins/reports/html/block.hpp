// A block of the page that holds data: JSON, deflated, in base64, inside a <script> element of a
// type that no browser runs. No base64 character can end the element, so names from a model file
// always stay data.
#pragma once
#include <zlib.h>

#include <string>
#include <string_view>
#include <tmeter/cpp/report.hpp>

namespace html_report {

class Block {
 public:
  /// Opens <script id="tmeter-NAME">; the page finds it by that.
  Block(tmeter::Output& out, std::string_view name);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void write(std::string_view text);
  /// Ends the element; nothing can be written afterwards. A block is left unfinished only if its
  /// writer throws.
  void finish();

 private:
  void deflate_some(std::string_view text, int flush);
  void put_base64(bool last);

  tmeter::Output& out_;
  z_stream zlib_{};
  std::string compressed_;  // not yet in base64
};

}  // namespace html_report
