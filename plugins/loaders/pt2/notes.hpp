// Notes: what the report must tell about how the model was read. Things of one kind are named a few
// times and then counted, so that a file cannot flood the report.
#pragma once
#include <map>
#include <string>
#include <tmeter/cpp/plugin.hpp>

namespace pt2 {

class Notes {
 public:
  explicit Notes(tmeter::Call& call) : call_(call) {}

  /// `kind` completes "… and 12 more KIND".
  void warn(std::string_view kind, const std::string& text) {
    if (++counts_[std::string(kind)] <= kNamed) call_.warn(text);
  }
  void info(const std::string& text) { call_.info(text); }
  /// To be called every millisecond or so: throws when the user has asked to stop.
  void check_cancelled() const {
    if (call_.cancelled()) throw tmeter::Error(TMETER_CANCELLED, "cancelled");
  }
  void progress(uint64_t done, uint64_t total) const { call_.progress(done, total, "nodes"); }

  void finish() {
    for (const auto& [kind, count] : counts_)
      if (count > kNamed) call_.warn("… and " + std::to_string(count - kNamed) + " more " + kind);
  }

 private:
  static constexpr size_t kNamed = 5;
  tmeter::Call& call_;
  std::map<std::string, size_t> counts_;
};

}  // namespace pt2
