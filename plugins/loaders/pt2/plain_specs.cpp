#include "plain_specs.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>

#include "json_util.hpp"

namespace pt2 {
namespace {

struct Kind {
  std::string_view key, name_key;
  int32_t kind;
  bool says_persistent;
};
constexpr std::array<Kind, 3> kKinds{{
    {"parameter", "parameter_name", TMETER_TENSOR_PARAMETER, false},
    {"buffer", "buffer_name", TMETER_TENSOR_BUFFER, true},
    {"tensor_constant", "tensor_constant_name", TMETER_TENSOR_CONSTANT, false},
}};

/// {"name": "p_weight"}
bool name_object(PlainText& text, std::string_view& out) {
  std::string_view key;
  return text.take('{') && text.key(key) && is(key, "name") && text.text(out) && text.take('}');
}

template <class Item>
bool all_items(std::string_view piece, Item&& item) {
  PlainText text(piece);
  do {
    if (!item(text)) return false;
  } while (text.take(','));
  return text.is_done();
}

}  // namespace

bool PlainNames::read(std::string_view piece) {
  names.clear();
  return all_items(piece, [this](PlainText& text) {
    std::string_view key;
    return text.take('{') && text.key(key) && is(key, "as_tensor") &&
           name_object(text, names.emplace_back()) && text.take('}');
  });
}

bool PlainSpecs::read(std::string_view piece) {
  specs.clear();
  return all_items(piece, [this](PlainText& text) { return spec(text, specs.emplace_back()); });
}

bool PlainSpecs::spec(PlainText& text, PlainSpec& spec) {
  std::string_view key;
  if (!text.take('{') || !text.key(key)) return false;
  const auto kind = std::ranges::find(kKinds, key, &Kind::key);
  if (kind == kKinds.end()) return false;
  spec.kind = kind->kind;
  SeenKeys keys;
  const auto member = [&](std::string_view name) {
    if (!keys.add(name)) return false;
    if (is(name, "arg")) return name_object(text, spec.argument);
    if (name == kind->name_key) return text.text(spec.name);
    return kind->says_persistent && is(name, "persistent") && text.boolean(spec.persistent);
  };
  const bool is_read = text.object(member) && text.take('}');
  return is_read && keys.count() == (kind->says_persistent ? 3 : 2);
}

bool PlainCalls::read(std::string_view piece) {
  modules.clear();
  return all_items(piece, [this](PlainText& text) {
    SeenKeys keys;
    bool found = false;
    const auto member = [&](std::string_view name) {
      if (!keys.add(name)) return false;
      if (!is(name, "fqn")) return text.skip();
      found = true;
      return text.text(modules.emplace_back());
    };
    return text.object(member) && found;
  });
}

}  // namespace pt2
