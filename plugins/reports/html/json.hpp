// JSON into a block as it is made; commas come by themselves.
//
//   json.open('{').key("op").text("aten::relu").key("dims").open('[').integer(1).close(']').close('}');
#pragma once
#include "block.hpp"

namespace html_report {

class Json {
 public:
  explicit Json(Block& block) : block_(block) {}

  Json& open(char bracket);
  Json& close(char bracket);
  Json& key(std::string_view name);
  /// What is not UTF-8 becomes U+FFFD: names come from model files.
  Json& text(std::string_view value);
  Json& integer(int64_t value);
  Json& index(size_t value) { return integer(static_cast<int64_t>(value)); }
  Json& real(double value);  // finite
  Json& boolean(bool value) { return put(value ? "true" : "false"); }
  Json& null() { return put("null"); }

  /// A count of any size: beyond 2^53, where JavaScript's numbers are no longer exact, in quotes.
  Json& exact(int64_t value);
  /// A figure. Numbers are numbers, nothing is null, and everything else is a text: "?" unknown,
  /// "-" unavailable, "0" zero by rule, "i9007199254740993" a count that needs its digits, "nan",
  /// "inf", "-inf".
  Json& cell(const tmeter::Cell& cell);

  void finish();

 private:
  void separate();
  Json& put(std::string_view value);

  Block& block_;
  std::string buffer_;
  bool comma_ = false;
};

}  // namespace html_report
