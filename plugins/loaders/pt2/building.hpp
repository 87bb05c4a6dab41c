// Shared by all steps of a load: warnings, copied texts, and the host's graph.
#pragma once
#include <cstring>
#include <map>
#include <memory_resource>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

namespace pt2 {

class Symbols;

/// Warnings about how the model was read. Of each kind the first few are reported and the rest are
/// counted, so that a file cannot flood the report.
class Notes {
 public:
  explicit Notes(tmeter::Call& call) : call_(call) {}

  /// `kind` completes "… and 12 more KIND".
  void warn(std::string_view kind, const std::string& text) {
    if (++counts_[std::string(kind)] <= kNamed) call_.warn(text);
  }
  void info(const std::string& text) { call_.info(text); }
  /// Throws if the user has asked to stop. Call it about once a millisecond.
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

/// Copies of strings that must outlive their source.
class TextStore {
 public:
  /// The copy lives as long as the store.
  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    auto* copy = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

/// Needed by every step that adds to the graph; owned by the load.
struct Building {
  tmeter::GraphBuilder& graph;
  Symbols& symbols;
  Notes& notes;
  TextStore& texts;
};

}  // namespace pt2
