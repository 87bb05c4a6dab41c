// Values that come from the elements of tensors and from runs of the model.
#include <tmeter/cpp/units.hpp>

#include "core/analysis/emission_rules.hpp"
#include "core/analysis/engine.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/process/activity.hpp"

namespace tmeter::core {

/// Marks every value of tensors that cannot be read, and logs each reason once.
void Engine::mark_unreadable(const TensorStream& stream) {
  std::map<std::string_view, std::set<size_t>> reasons;  // → tensors
  std::map<const TensorUse*, std::vector<Column*>> produced;
  for (const auto& [tensor, use, why] : stream.unreadable()) {
    reasons[why].insert(tensor->index);
    const auto [at, is_new] = produced.try_emplace(use);
    if (is_new)
      for (const auto& id : split(str(use->analysis->produced), " "))
        if (auto* column = own_column(id, use->plugin->manifest.id)) at->second.push_back(column);
    for (auto* column : at->second) {
      auto& c = *column;
      if (c.axis == TMETER_AXIS_TENSOR)
        c.cells[TMETER_AXIS_TENSOR].set(tensor->index, number_of_kind(TMETER_NUMBER_UNAVAILABLE));
      if (!stream.empty()) continue;
      c.provenance = TMETER_PROVENANCE_UNAVAILABLE;
      c.provenance_text = why;
    }
  }
  for (const auto& [why, tensors] : reasons) {
    const auto n = tensors.size();
    context_.log->add(TMETER_LOG_WARNING, "tmeter",
                      "the elements of " + std::to_string(n) +
                          (n == 1 ? " tensor, '" : " tensors, such as '") +
                          std::string(graph_.tensors()[*tensors.begin()].name) +
                          "', cannot be read: " + std::string(why));
  }
}

/// "mean 0.000156, std 0.0475, …": columns that tables show.
std::string Engine::values_of(int32_t axis, size_t index) const {
  constexpr size_t kMaxValues = 6;
  std::string text;
  size_t count = 0;
  for (const auto& c : results_.columns) {
    const auto cell = c.cell(axis, index);
    if (!is_number(cell) || (c.flags & TMETER_METRIC_DETAIL) != 0 || count == kMaxValues) continue;
    const auto scaled = tmeter::scaled(real(cell), c.unit_kind, c.unit);
    text += (count++ ? ", " : "") + c.title + " " + scaled.text();
  }
  return text;
}

void Engine::log_tensor(const Tensor& tensor) {
  if (context_.log->verbosity() < 1) return;
  context_.log->add(
      TMETER_LOG_INFO, "tmeter",
      "read " + std::string(tensor.name) + ": " + values_of(TMETER_AXIS_TENSOR, tensor.index));
}

/// A module right below the root is a group of operators.
void Engine::log_modules() {
  if (context_.log->verbosity() < 1) return;
  std::vector<size_t> operators(graph_.modules().size());
  for (const auto& n : graph_.nodes()) {
    const auto* m = n.call->module;
    while (m->depth > 1) m = m->parent;
    ++operators[m->index];
  }
  for (const auto* m : graph_.modules()) {
    if (m->depth > 1 || operators[m->index] == 0) continue;
    context_.log->add(
        TMETER_LOG_INFO, "tmeter",
        "done " + (m->depth ? std::string(m->path) : "what the model runs itself") + ": " +
            std::to_string(operators[m->index]) +
            (operators[m->index] == 1 ? " operator" : " operators") +
            (m->depth ? ", " + values_of(TMETER_AXIS_MODULE, m->index) : std::string()));
  }
}

void Engine::stream_tensors() {
  if (tensor_uses_.empty() || !context_.tensors) return;
  streaming_ = true;
  TensorStream stream(graph_, tensor_uses_, *context_.tensors, *context_.log);
  stream.run(
      activity().checks_process_state ? 1 : threads_,
      [&](const TensorUse& use, const Tensor& tensor, void* state) {
        const auto* a = use.analysis;
        invoke(use.plugin->call, "in '" + str(a->name) + "'",
               [&](tmeter_call* c) { return a->emit(c, to_handle(&tensor), state, a->user); });
      },
      [this](const Tensor& tensor) { log_tensor(tensor); });
  streaming_ = false;
  mark_unreadable(stream);
}

void Engine::observe_runs() {
  if (!runs_) return;
  observing_ = true;
  runs_->run(graph_, observer_uses_);
  observing_ = false;
  for (const auto& use : observer_uses_) mark_unmeasured(use);
}

/// Values that an observer did not supply are unavailable; a sum over them is a lower bound.
void Engine::mark_unmeasured(const ObserverUse& use) {
  for (const auto& id : split(str(use.observer->produced), " ")) {
    auto* own = own_column(id, use.plugin->manifest.id);
    if (!own) continue;
    auto& c = *own;
    auto& cells = c.cells[static_cast<size_t>(c.axis)];
    cells.resize(axis_size(graph_, c.axis));
    for (size_t i = 0; i < cells.size(); ++i)
      if (cells.kind(i) == TMETER_NUMBER_NONE)
        cells.set(i, number_of_kind(TMETER_NUMBER_UNAVAILABLE));
  }
}

}  // namespace tmeter::core
