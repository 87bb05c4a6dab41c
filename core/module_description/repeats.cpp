#include "core/module_description/repeats.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>

namespace tmeter::core {
namespace {

constexpr size_t kLongestWindow = 32;

/// Encodes a module's definition as bytes for comparison, without building texts.
class Definition {
 public:
  std::string_view of(const Module& m, std::string_view text, const std::vector<size_t>& ids) {
    bytes_.clear();
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
      put(ids[child->index]);
    }
    return bytes_;
  }

 private:
  void put(size_t number) {
    std::array<char, sizeof number> bytes{};
    std::memcpy(bytes.data(), &number, sizeof number);
    bytes_.append(bytes.data(), bytes.size());
  }
  void put(std::string_view text) {
    put(text.size());
    bytes_ += text;
  }
  std::string bytes_;
};

struct Hash : TextHash {
  using is_transparent = void;
};

/// Equal numbers for identical modules. Backwards, because children come after their parent.
std::vector<size_t> definitions(const Graph& graph, const std::vector<std::string>& texts) {
  std::vector<size_t> ids(graph.modules().size());
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> known;
  Definition definition;
  for (size_t i = ids.size(); i-- > 0;) {
    const auto key = definition.of(*graph.modules()[i], texts[i], ids);
    const auto at = known.find(key);
    ids[i] = at != known.end() ? at->second : known.size();
    if (at == known.end()) known.emplace(key, ids[i]);
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
