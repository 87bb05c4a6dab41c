#include "core/module_description/module_description.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <utility>

#include "core/base/text.hpp"
#include "core/module_description/module_text.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMaxRepeatWindow = 32;

/// A hash of a module's definition. TextHash has a secret of the process, so that no file can be
/// made in which different modules have equal hashes.
class Definition {
 public:
  size_t of(const Module& m, std::string_view text, const std::vector<size_t>& children) {
    put(m.type);
    put(text);
    put(m.tensors.size());
    for (const auto* t : m.tensors) {
      put(t->name.substr(t->name.rfind('.') + 1));
      put(static_cast<size_t>(t->dtype));
      put(t->dims.size());
      for (const auto d : t->dims) put(static_cast<size_t>(d));
    }
    for (const auto* child : m.children) {
      put(child->name);
      put(children[child->index]);
    }
    return hash_;
  }

 private:
  void put(std::string_view text) { put(TextHash()(text)); }
  void put(size_t number) {
    hash_ = (hash_ ^ number) * 0x9E3779B97F4A7C15;
    hash_ ^= hash_ >> 32;
  }
  size_t hash_ = 0;
};

/// How often the window at `at` is repeated, itself included.
size_t count_times(const std::vector<size_t>& items, size_t at, size_t window) {
  size_t times = 1;
  for (size_t next = at + window; next + window <= items.size(); next += window, ++times) {
    if (!std::equal(items.begin() + static_cast<ptrdiff_t>(at),
                    items.begin() + static_cast<ptrdiff_t>(at + window),
                    items.begin() + static_cast<ptrdiff_t>(next)))
      break;
  }
  return times;
}

Repeat best_repeat_at(const std::vector<size_t>& items, size_t at) {
  Repeat best;
  const size_t longest = std::min(kMaxRepeatWindow, (items.size() - at) / 2);
  for (size_t window = 1; window <= longest; ++window) {
    const size_t times = count_times(items, at, window);
    if (times > 1 && times * window > best.times * best.window) best = {window, times};
  }
  return best;
}

}  // namespace

std::vector<Repeat> find_repeats(const Graph& graph, const std::vector<std::string>& texts) {
  const auto& modules = graph.modules();
  std::vector<size_t> definitions(modules.size());
  std::vector<Repeat> repeats(modules.size());
  for (size_t i = modules.size(); i-- > 0;) {  // children come after their parent
    const auto& children = modules[i]->children;
    definitions[i] = Definition().of(*modules[i], texts[i], definitions);
    std::vector<size_t> items;
    for (const auto* child : children) items.push_back(definitions[child->index]);
    for (size_t at = 0; at < items.size();) {
      const auto best = best_repeat_at(items, at);
      repeats[children[at]->index] = best;
      at += std::max<size_t>(1, best.window * best.times);
    }
  }
  return repeats;
}

namespace {

/// The first call of a module. Null: the module is not called, or takes or returns no tensor.
struct ModuleIo {
  const Value* input = nullptr;   // the first tensor it uses that was made outside (no parameter)
  const Value* output = nullptr;  // the last tensor it makes that is used outside
};

/// Finds the inputs and outputs of module calls.
class IoFinder {
 public:
  explicit IoFinder(const Graph& graph)
      : graph_(graph), parents_(graph.ownership().parent_of_call), calls_(graph.calls().size()) {
    depths_.reserve(parents_.size());
    for (const auto parent : parents_)  // a call comes after its parent
      depths_.push_back(parent == kNone ? 1 : depths_[parent] + 1);
  }

  std::vector<ModuleIo> run() {
    for (const auto& node : graph_.nodes())
      for (const auto& arg : node.args) cross(*arg.value, number_of(node.call));
    for (const auto* output : graph_.outputs()) cross(*output, kNone);
    std::vector<ModuleIo> modules(graph_.modules().size());
    std::vector<bool> seen(modules.size());
    for (const auto& call : graph_.calls()) {
      const auto m = call.module->index;
      if (!seen[m]) modules[m] = calls_[call.index];
      seen[m] = true;
    }
    return modules;
  }

 private:
  static constexpr uint32_t kNone = OwnershipColumns::kNone;
  static uint32_t number_of(const ModuleCall* call) {
    return call ? static_cast<uint32_t>(call->index) : kNone;
  }
  size_t depth(uint32_t call) const { return call == kNone ? 0 : depths_[call]; }

  /// A value goes from the call of its producer to the call `user`; kNone is outside of all calls.
  /// It leaves and enters the calls that do not contain both.
  void cross(const Value& value, uint32_t user) {
    if (value.kind == TMETER_VALUE_LIST) {
      for (const auto* item : value.items) cross(*item, user);
      return;
    }
    if (value.kind != TMETER_VALUE_TENSOR || value.tensor) return;
    auto maker = value.producer ? number_of(value.producer->call) : kNone;
    while (user != maker) {
      const auto users = depth(user), makers = depth(maker);
      if (users >= makers) enter(value, std::exchange(user, parents_[user]));
      if (makers >= users) leave(value, std::exchange(maker, parents_[maker]));
    }
  }
  void enter(const Value& value, uint32_t call) {
    auto& input = calls_[call].input;
    if (!input) input = &value;
  }
  void leave(const Value& value, uint32_t call) {
    auto& output = calls_[call].output;
    if (!output || output->producer->index <= value.producer->index) output = &value;
  }

  const Graph& graph_;
  const std::vector<uint32_t>& parents_;
  std::vector<uint32_t> depths_;
  std::vector<ModuleIo> calls_;
};

std::string size_text(const Value* tensor) {
  return tensor ? shape_text(tensor->dims) : std::string();
}

}  // namespace

ModuleDescriptions::ModuleDescriptions(const Graph& graph) {
  auto made = module_texts(graph);
  repeats = find_repeats(graph, made.whole);
  auto& [text, kernel_size, input_size, output_size] = texts;
  text = std::move(made.whole);
  kernel_size = std::move(made.kernel_size);
  if (graph.nodes().empty()) return;
  for (const auto& io : IoFinder(graph).run()) {
    input_size.push_back(size_text(io.input));
    output_size.push_back(size_text(io.output));
  }
}

const std::string& ModuleDescriptions::text(std::string_view key, size_t module) const {
  static const std::string none;
  const auto at = std::find(kModuleTexts.begin(), kModuleTexts.end(), key);
  if (at == kModuleTexts.end()) return none;
  const auto& column = texts[static_cast<size_t>(at - kModuleTexts.begin())];
  return module < column.size() ? column[module] : none;
}

}  // namespace tmeter::core
