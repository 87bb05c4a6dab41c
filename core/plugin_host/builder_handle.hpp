// The object behind `tmeter_builder`: the graph being built and the call whose error slot it uses.
#pragma once
#include <optional>
#include <utility>

#include "core/ir/builder.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/live_handles.hpp"
#include "core/plugin_host/source.hpp"

struct tmeter_builder {
  tmeter::core::GraphBuilder builder;
  tmeter_call* call = nullptr;
  const tmeter_source* source = nullptr;  // the model file; null when nothing is read from a file
  /// Set while a part of a folder is read: `source` is the part's file, and its root is this
  /// module.
  const tmeter::core::FolderPart* part = nullptr;
  bool of_rule = false;   // impossible values are a shape rule's fault, not the model's
  std::string refusal{};  // why a rule refused its arguments
  /// The first error. Nothing is built after it, because an incomplete graph would describe another
  /// model.
  std::optional<tmeter::core::Error> refused{};
  tmeter::core::BuilderRegistration registration{this};
  size_t pushes = 0;  // number of pushes so far
  /// The graph whose modules and tensors the builder starts with, copied at the first push; null:
  /// none, or already copied.
  const tmeter::core::Graph* frame = nullptr;
  size_t refuse_at = 0;  // the number of the push to refuse, for tests of error handling; 0: none

  /// Drops everything that a declining loader has pushed, before the next one is tried.
  void begin_again() {
    builder = tmeter::core::GraphBuilder();
    refused.reset();
    pushes = 0;
  }
  void begin_with_frame() {
    if (const auto* from = std::exchange(frame, nullptr))
      builder = tmeter::core::GraphBuilder(*from);
  }
  void count_push() {
    if (++pushes == refuse_at)
      throw tmeter::core::Error(
          tmeter::core::ErrorKind::kModel,
          "push " + std::to_string(pushes) + " is refused, to try the loader");
  }
};

namespace tmeter::core {

inline constexpr const char* kBuilderGivenBack =
    "it uses a builder for shape rules that it has given back, or gives one back that is not its "
    "own";

/// For functions that have only a builder, which is not live. If the current callback has given the
/// builder back, the plugin fails; if it ended with an earlier callback, nothing happens.
void note_ended_builder(const tmeter_builder* builder) noexcept;

/// Throws Error(kPlugin) if the plugin reports success although the builder refused something.
inline void require_no_refusal(const tmeter_builder& builder) {
  if (builder.refused)
    throw Error(ErrorKind::kPlugin, std::string("it continues after the builder refused a push: ") +
                                        builder.refused->what());
}

}  // namespace tmeter::core
