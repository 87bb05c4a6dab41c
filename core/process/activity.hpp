// The worker's current activity, in a page shared with its supervisor: reports of a crash, a kill
// or a time-out name the plugin, the callback and the node. Writing copies a few short strings and
// makes no system call. The supervisor does not trust the page: it derives no exit status from it,
// cuts strings and makes them printable before it shows them, and ignores a page whose seals are
// broken.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tmeter::core {

/// A text of at most N - 1 bytes; a longer one is cut.
template <size_t N>
class ShortText {
 public:
  void set(std::string_view text) {
    const size_t n = text.size() < N - 1 ? text.size() : N - 1;
    text.copy(bytes_.data(), n);
    bytes_[n] = '\0';
  }
  void clear() { bytes_[0] = '\0'; }
  bool empty() const { return bytes_[0] == '\0'; }
  /// Whether `text`, cut to this size, equals the stored text.
  bool is(std::string_view text) const { return view() == text.substr(0, N - 1); }
  std::string_view view() const {
    const std::string_view all(bytes_.data(), N);
    return all.substr(0, all.find('\0'));
  }
  std::string text() const { return std::string(view()); }

 private:
  std::array<char, N> bytes_{};
};

/// How far the run is.
enum class Stage : int32_t { kStarting, kReading, kAnalysing, kWriting, kEnding };

/// Why a plugin's code runs before its tables have been checked.
enum class OpenedFor : int32_t {
  kNo,
  kRequested,
  kFound,  ///< found in a plugin folder, not requested
};

/// The activity of one thread.
struct ActivitySlot {
  ShortText<256> plugin;  // id, or a path while it is opened; empty: the host itself is at work
  ShortText<160> doing;   // "on metric 'macs'", completes "plugin X crashed …"
  OpenedFor opening{};    // its library or tables are being opened
  int64_t node = -1;      // index, with its operator and module:
  ShortText<96> op;       // "aten::conv2d"
  ShortText<160> module;  // "layer1.0.conv2"
  ShortText<208> at;      // what the plugin itself said: "aten::conv2d of layer1"
};

struct Activity {
  static constexpr size_t kSlots = 64;
  /// At both ends and in the middle. A stray write over the page changes one of them.
  static constexpr uint64_t kSeal = 0x6a09'e667'f3bc'c908;
  uint64_t first_seal = kSeal;
  std::array<ActivitySlot, kSlots> slots;  // 0 is the main thread's
  uint64_t middle_seal = kSeal;
  std::atomic<uint32_t> slots_taken{1};
  std::atomic<Stage> stage{Stage::kStarting};
  /// An earlier attempt found the process changed, without knowing by which plugin: the whole state
  /// is checked after each callback.
  bool checks_process_state = false;
  ShortText<256> speaker;                 // the plugin whose lines are read (stdio_attribution.hpp)
  std::atomic<bool> is_listening{false};  // the supervisor reads them just now
  ShortText<64> engine;                   // what runs the file's code just now: "LibTorch"
  std::atomic<int32_t> crashed_slot{-1};  // set by the signal handler
  /// Set where the run failed and its memory was given back.
  std::atomic<bool> no_memory_left{false};
  /// Set by the signal handler that ends the worker where the model's file has become shorter.
  ShortText<512> fatal_message;
  uint64_t last_seal = kSeal;

  bool is_intact() const {
    return first_seal == kSeal && middle_seal == kSeal && last_seal == kSeal;
  }
};

/// The page, made once before the first fork; in a process without supervisor an ordinary object.
Activity& activity();
/// Makes the page one that is shared with processes forked later. Throws Error(kRun).
void share_activity();
/// Whether a thread is inside a plugin.
bool is_inside_plugin(const Activity& activity);
/// In a process forked from the worker: replaces the shared page by a private copy.
void leave_activity();

/// During its lifetime, the run is at this stage.
class StageScope {
 public:
  explicit StageScope(Stage stage) : before_(activity().stage.exchange(stage)) {}
  ~StageScope() { activity().stage = before_; }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  Stage before_;
};

/// This thread's slot. Threads beyond kSlots share the last one.
ActivitySlot& activity_slot();

/// During its lifetime, this thread is inside a plugin. Scopes nest: the end of one restores the
/// description of the outer one.
class PluginScope {
 public:
  PluginScope(std::string_view plugin, std::string_view doing, OpenedFor opening = OpenedFor::kNo);
  ~PluginScope();
  PluginScope(const PluginScope&) = delete;
  PluginScope& operator=(const PluginScope&) = delete;

 private:
  ActivitySlot& slot_;
  /// The outer plugin's texts; absent where the host itself calls the plugin.
  struct Words {
    decltype(ActivitySlot::plugin) plugin;
    decltype(ActivitySlot::doing) doing;
  };
  std::optional<Words> outer_;
  OpenedFor opening_;
};

/// During its lifetime, this thread works on a node.
class NodeScope {
 public:
  NodeScope(int64_t index, std::string_view op, std::string_view module);
  ~NodeScope();
  NodeScope(const NodeScope&) = delete;
  NodeScope& operator=(const NodeScope&) = delete;

 private:
  ActivitySlot& slot_;
  int64_t before_;
};

}  // namespace tmeter::core
