#include "core/structure/repeats.hpp"

#include <algorithm>
#include <unordered_map>

namespace tmeter::core {
namespace {

constexpr size_t kLongestWindow = 32;

/// Equal numbers for identical modules; children come after their parent, so backwards.
std::vector<size_t> definitions(const Graph& graph, const std::vector<std::string>& texts) {
  std::vector<size_t> ids(graph.modules().size());
  std::unordered_map<std::string, size_t> known;
  for (size_t i = ids.size(); i-- > 0;) {
    const auto& m = *graph.modules()[i];
    std::string key = std::string(m.type) + '\n' + texts[i];
    for (const auto* t : m.tensors) {
      key += '\n' + std::string(t->name.substr(t->name.rfind('.') + 1)) + ':' +
             std::to_string(t->dtype);
      for (const auto d : t->dims) key += ',' + std::to_string(d);
    }
    for (const auto* child : m.children)
      key += '\n' + std::string(child->name) + '=' + std::to_string(ids[child->index]);
    ids[i] = known.try_emplace(std::move(key), known.size()).first->second;
  }
  return ids;
}

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

Repeat best_at(const std::vector<size_t>& items, size_t at) {
  Repeat best;
  const size_t longest = std::min(kLongestWindow, (items.size() - at) / 2);
  for (size_t window = 1; window <= longest; ++window) {
    const size_t times = count_times(items, at, window);
    if (times > 1 && times * window > best.times * best.window) best = {window, times};
  }
  return best;
}

}  // namespace

std::vector<Repeat> find_repeats(const Graph& graph, const std::vector<std::string>& texts) {
  const auto ids = definitions(graph, texts);
  std::vector<Repeat> repeats(ids.size());
  for (const auto* m : graph.modules()) {
    std::vector<size_t> items;
    for (const auto* child : m->children) items.push_back(ids[child->index]);
    for (size_t at = 0; at < items.size();) {
      const auto best = best_at(items, at);
      repeats[m->children[at]->index] = best;
      at += std::max<size_t>(1, best.window * best.times);
    }
  }
  return repeats;
}

}  // namespace tmeter::core
