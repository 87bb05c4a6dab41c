// The output of `tmeter plugin check`, line by line.
#pragma once
#include <string>

namespace tmeter::app {

class CheckLines {
 public:
  void say(const std::string& line) { text_ += line + "\n"; }
  void fine(const std::string& line) { ++tried_, say("  ok    " + line); }
  void bad(const std::string& line) { ++tried_, ++bad_, say("  BAD   " + line); }
  void note(const std::string& line) { say("  note  " + line); }

  int bad() const { return bad_; }
  /// All lines, and a summary.
  std::string text() const {
    const auto tried = std::to_string(tried_) + " checks";
    return text_ + (bad_ ? "NOT FINE: " + std::to_string(bad_) + " of " + tried : "fine: " + tried) +
           "\n";
  }

 private:
  std::string text_;
  int tried_ = 0, bad_ = 0;
};

}  // namespace tmeter::app
