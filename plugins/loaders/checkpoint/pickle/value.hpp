// The content of a pickle as plain data. Nothing is called or looked up: a class is its name, a
// call is the name of the function and its arguments.
//
// Values live in an Arena and point at each other freely, also in cycles and many times at the same
// value. Code that walks them must remember the visited ones.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace checkpoint {

struct Value;
using KeyIndex = std::unordered_map<std::string_view, const Value*, tmeter::TextHash>;

/// The content of a container.
struct Items {
  const Value* find_indexed(std::string_view key);

  std::vector<const Value*> list;                            // items of a list, tuple or set
  std::vector<std::pair<const Value*, const Value*>> pairs;  // entries of a dict, in order
  const Value* callable = nullptr;                           // class or function of an object
  const Value* arguments = nullptr;                          // … its arguments, a tuple
  const Value* state = nullptr;    // … and the state set by BUILD, or null
  std::unique_ptr<KeyIndex> keys;  // index of a dict, made by the first search
};

enum class Kind : uint8_t {
  kNone,
  kBool,
  kInt,
  kBigInt,  // does not fit 64 bits
  kFloat,
  kText,
  kBytes,
  kList,
  kTuple,
  kDict,
  kSet,
  kGlobal,   // the name of a class or function, "torch.nn.modules.conv.Conv2d"
  kObject,   // an object of a class, or what a function would return (`items->callable`)
  kStorage,  // a reference to a tensor's memory: `items->list` is its persistent id
};

struct Value {
  Kind kind = Kind::kNone;
  bool is_placeholder = false;  // an object that a call of an unknown class would make
  uint64_t at = 0;              // byte of the pickle
  union {
    int64_t integer = 0;  // bool, int; the trust in a global
    double real;
    Items* items;
  };
  std::string_view text;  // text, bytes, global, the digits of a big integer

  bool is(Kind k) const { return kind == k; }
  bool is_text(std::string_view t) const { return kind == Kind::kText && text == t; }
  bool is_global(std::string_view name) const { return kind == Kind::kGlobal && text == name; }
  /// Whether it is a result of the class or function `name`.
  bool is_object_of(std::string_view name) const {
    return kind == Kind::kObject && items->callable->text == name;
  }
  const std::vector<const Value*>& list() const { return items->list; }
  /// The value of a text key of a dict, the last one if it is set twice; null if the key is
  /// missing.
  const Value* find(std::string_view key) const;
};

inline const Value* Value::find(std::string_view key) const {
  constexpr size_t kMaxUnindexedKeys = 32;
  if (kind != Kind::kDict) return nullptr;
  if (items->pairs.size() > kMaxUnindexedKeys) return items->find_indexed(key);
  for (auto it = items->pairs.rbegin(); it != items->pairs.rend(); ++it)
    if (it->first->is_text(key)) return it->second;
  return nullptr;
}

/// Indexed, because very many objects may share the dict and search it.
inline const Value* Items::find_indexed(std::string_view key) {
  if (!keys) {
    keys = std::make_unique<KeyIndex>();
    for (const auto& [name, value] : pairs)
      if (name->is(Kind::kText)) (*keys)[name->text] = value;
  }
  const auto it = keys->find(key);
  return it == keys->end() ? nullptr : it->second;
}

/// Owns all values of a file and frees them together.
class Arena {
 public:
  size_t size() const { return values_.size(); }
  Value* make(Kind kind, uint64_t at) {
    auto& v = values_.emplace_back();
    v.kind = kind;
    v.at = at;
    if (kind >= Kind::kList && kind != Kind::kGlobal) v.items = &items_.emplace_back();
    return &v;
  }
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

 private:
  std::deque<Value> values_;
  std::deque<Items> items_;
  std::deque<std::string> texts_;
};

}  // namespace checkpoint
