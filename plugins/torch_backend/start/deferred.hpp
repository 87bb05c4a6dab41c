// Registrations put off until somebody asks for the name they are of. Knows nothing of LibTorch;
// start.cpp fills it, and says why.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tmeter::torch_backend::start {

/// "aten::add" of "aten::add.Tensor" and of "aten::add.Tensor(Tensor self, …": what all overloads
/// of an operator share, and under which they are put off and entered together.
std::string_view shared_name(std::string_view operator_or_schema);

/// "Tensor" of "aten::add.Tensor(Tensor self, …"; empty of "aten::relu".
std::string_view overload_of(std::string_view operator_or_schema);

/// One call that LibTorch made and that has yet to be passed on.
struct Registration {
  virtual ~Registration() = default;
  virtual void enter() = 0;
  /// Which overload it is about; none: it comes after all that are about one.
  virtual std::optional<std::string_view> overload() const { return std::nullopt; }
  /// Of an operator that TorchScript alone has, not the dispatcher.
  virtual bool of_script() const { return false; }
};

/// By name, overload by overload as they were first mentioned, and each in the order in which it
/// was told: that is how LibTorch lists overloads, which its compiler tries in turn. Any thread;
/// whoever asks for a name that another thread is entering waits for it.
class Deferred {
 public:
  using Entry = std::unique_ptr<Registration>;

  void add(std::string_view name, Entry entry);
  /// Enters what was put off under this name. What asks for the same name meanwhile sees what is
  /// there.
  void enter(std::string_view name);
  void enter_all();
  bool waits(std::string_view name);
  std::vector<std::string> script_names();
  size_t names() const { return count_.load(std::memory_order_acquire); }

  /// Held by who enters, and by who registers something directly: LibTorch's own locks come after
  /// it.
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  using Chains = std::unordered_map<std::string, std::vector<Entry>, Hash, std::equal_to<>>;

  void enter(Chains::iterator chain);

  std::recursive_mutex mutex_;
  Chains chains_;
  std::atomic<size_t> count_ = 0;  // falls when a name has been entered as a whole
};

}  // namespace tmeter::torch_backend::start
