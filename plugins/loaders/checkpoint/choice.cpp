#include "choice.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <tmeter/cpp/plugin.hpp>
#include <tuple>
#include <unordered_set>

#include "../common/bad_file.hpp"
#include "tensors.hpp"

namespace checkpoint {
namespace {

using loading::BadFile;
using loading::in_quotes;

constexpr size_t kMaxSearchDepth = 8;
constexpr size_t kMaxVisited = 20'000;  // containers searched
constexpr size_t kListed = 20;          // keys named in a message
constexpr size_t kMaxKeyBytes = 256;    // bytes

// Keys in order of preference. PyTorch's tutorial; Lightning; DeepSpeed; MMCV; timm; Ultralytics;
// EMA copies last.
constexpr std::array<std::string_view, 14> kModelKeys{
    "model_state_dict", "state_dict", "model_state", "model_dict", "model",
    "module",           "net",        "network",     "weights",    "params",
    "generator",        "params_ema", "model_ema",   "ema"};

// Other parts of a checkpoint that hold tensors.
constexpr std::array<std::string_view, 7> kOtherWords{"optim",    "sched", "scaler", "rng",
                                                      "callback", "loop",  "metric"};

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

/// Whether a user can read and type the key.
bool is_usable(std::string_view key) { return key.size() <= kMaxKeyBytes && loading::is_utf8(key); }

/// The searchable content: a dict or list, an object that is one, or the attributes of an object.
const Value* content_of(const Value& value) {
  if (is_container(value)) return &value;
  return attributes_of(value);
}

/// Calls f(key, value) for each entry or attribute. Keys that are not usable are empty.
template <class F>
void each_member(const Value& value, F&& f) {
  char digits[24];
  const auto number = [&](int64_t n) {
    const auto end = std::to_chars(std::begin(digits), std::end(digits), n).ptr;
    return std::string_view(digits, static_cast<size_t>(end - digits));
  };
  const auto* content = content_of(value);
  if (!content) return;
  for (const auto& [key, item] : content->items->pairs) {
    if (key->is(Kind::kInt)) f(number(key->integer), *item);
    if (key->is(Kind::kText)) f(is_usable(key->text) ? key->text : std::string_view(), *item);
  }
  for (size_t i = 0; i < content->list().size(); ++i)
    f(number(static_cast<int64_t>(i)), *content->list()[i]);
}

bool may_hold(const Value& v) {
  return is_container(v) || (v.is(Kind::kObject) && !Tensors::is_tensor(v));
}

/// All parts that hold tensors, breadth first. Each container is visited once, even if many objects
/// share it.
class Search {
 public:
  std::vector<Part> run(const Value& root) {
    look({&root, "", 0, false}, 0);
    for (size_t i = 0; i < queue_.size(); ++i) {
      const auto [part, depth] = queue_[i];
      if (!part.is_module && depth < kMaxSearchDepth) open(part, depth);
    }
    return std::move(parts_);
  }

 private:
  void open(const Part& part, size_t depth) {
    each_member(*part.value, [&](std::string_view key, const Value& value) {
      if (key.empty() || is_beside_model(key) || !may_hold(value)) return;
      look({&value, joined(part.path, key), 0, false}, depth + 1);
    });
  }

  void look(Part part, size_t depth) {
    const auto* content = content_of(*part.value);
    if (!content || seen_.size() >= kMaxVisited || !seen_.insert(content).second) return;
    part.is_module = is_module(*part.value);
    each_member(*part.value, [&](std::string_view, const Value& value) {
      part.tensors += Tensors::is_tensor(value);
    });
    if (part.is_module) part.tensors = 1;
    // A list may be one tensor of a thousand entries; only dicts and modules are models.
    const bool model = part.is_module || !content->items->pairs.empty();
    if (part.tensors > 0 && model) parts_.push_back(part);
    queue_.push_back({std::move(part), depth});
  }

  struct QueueEntry {
    Part part;
    size_t depth;
  };
  std::deque<QueueEntry> queue_;
  std::vector<Part> parts_;
  std::unordered_set<const Value*> seen_;
};

/// Rank of the last name of the path among the keys that trainers use; other names come last.
size_t rank(const Part& part) {
  const auto last = std::string_view(part.path).substr(part.path.rfind('.') + 1);
  return static_cast<size_t>(std::find(kModelKeys.begin(), kModelKeys.end(), last) -
                             kModelKeys.begin());
}

size_t depth(const Part& part) {
  return static_cast<size_t>(std::count(part.path.begin(), part.path.end(), '.'));
}

const Part& best(const std::vector<Part>& parts) {
  const auto named = std::min_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    const bool x = rank(a) < kModelKeys.size(), y = rank(b) < kModelKeys.size();
    return std::tuple(!x, depth(a), rank(a)) < std::tuple(!y, depth(b), rank(b));
  });
  const bool has_named = rank(*named) < kModelKeys.size();
  const auto& root = parts.front();
  if (root.path.empty() && (!has_named || root.is_module || root.tensors >= named->tensors))
    return root;
  if (has_named) return *named;
  return *std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tuple(a.is_module, a.tensors) < std::tuple(b.is_module, b.tensors);
  });
}

[[noreturn]] void no_such_key(std::string_view key, const Value& where, const std::string& path) {
  std::string keys;
  size_t count = 0;
  each_member(where, [&](std::string_view name, const Value&) {
    if (name.empty() || ++count > kListed) return;
    const auto quoted = in_quotes(name);
    keys += (keys.empty() ? "" : ", ") + quoted.substr(1, quoted.size() - 2);
  });
  if (count > kListed) keys += ", … (" + std::to_string(count) + " in all)";
  throw tmeter::Error(TMETER_BAD_USAGE, "--set checkpoint.key=" + std::string(key) + ": " +
                                            (path.empty() ? "the checkpoint" : in_quotes(path)) +
                                            (keys.empty() ? " has no named entries"
                                                          : " has no such key; it has " + keys));
}

/// Follows one key of `rest` and removes it from there. Keys may contain dots; the longest match
/// wins. Returns false if no key matches.
bool step(Part& part, std::string_view& rest) {
  const Value* found = nullptr;
  std::string name;
  each_member(*part.value, [&](std::string_view key, const Value& value) {
    const bool fits =
        rest.starts_with(key) && (rest.size() == key.size() || rest[key.size()] == '.');
    if (!fits || key.empty() || key.size() < name.size()) return;
    found = &value;
    name = key;
  });
  if (!found) return false;
  part.value = found;
  part.path = joined(part.path, name);
  rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  return true;
}

Part part_at(const Value& root, std::string_view key) {
  Part part{&root, "", 0, false};
  for (auto rest = key; !rest.empty();)
    if (!step(part, rest)) no_such_key(key, *part.value, part.path);
  part.is_module = is_module(*part.value);
  return part;
}

}  // namespace

bool is_beside_model(std::string_view key) {
  return std::any_of(kOtherWords.begin(), kOtherWords.end(),
                     [&](auto word) { return key.find(word) != std::string_view::npos; });
}

bool is_container(const Value& v) {
  if (v.is(Kind::kDict) || v.is(Kind::kList) || v.is(Kind::kTuple)) return true;
  return v.is(Kind::kObject) && !(v.items->pairs.empty() && v.items->list.empty());
}

const Value* attributes_of(const Value& object) {
  const auto* state = object.is(Kind::kObject) ? object.items->state : nullptr;
  if (state && state->is(Kind::kTuple) && !state->list().empty()) state = state->list().front();
  return state && state->is(Kind::kDict) ? state : nullptr;
}

bool is_module(const Value& value) {
  const auto* attributes = attributes_of(value);
  return attributes && attributes->find("_modules") && attributes->find("_parameters");
}

Choice choose(const Value& root, std::string_view key) {
  if (key == ".") return {{&root, "", 0, is_module(root)}, {}};
  if (!key.empty()) return {part_at(root, key), {}};
  if (Tensors::is_tensor(root)) return {{&root, "", 1, false}, {}};
  const auto parts = Search().run(root);
  if (parts.empty())
    throw BadFile("it holds no tensors that could be a model's weights",
                  "name the part that does with --set checkpoint.key=…");
  Choice choice{best(parts), {}};
  for (const auto& part : parts)
    if (part.value != choice.chosen.value) choice.others.push_back(part.path);
  return choice;
}

}  // namespace checkpoint
