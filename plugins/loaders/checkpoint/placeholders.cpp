#include "placeholders.hpp"

#include "../common/bad_file.hpp"
#include "tensors.hpp"

namespace checkpoint {
namespace {

constexpr size_t kFewBytes = 64;  // a digest, a date, a random seed

bool is_weight(const Value& v) {
  return v.is(Kind::kStorage) || Tensors::is_tensor(v) ||
         (v.is(Kind::kBytes) && v.text.size() > kFewBytes);
}

bool has_items(const Value& v) { return v.kind >= Kind::kList && !v.is(Kind::kGlobal); }

}  // namespace

void refuse_placeholder(const Value& placeholder, const std::string& what) {
  throw loading::BadFile(
      what + " is what calling " + loading::shown(placeholder.items->callable->text) +
          " returns (byte " + std::to_string(placeholder.at) +
          "), which tmeter does not do: its number of parameters is unknown",
      "if you trust the author of the file, load it in Python and save its state_dict() alone");
}

bool HiddenWeights::in(const Value& object) {
  std::vector<const Value*> waiting{&object};
  const auto look = [&](const Value* v) {
    if (v && (has_items(*v) || is_weight(*v))) waiting.push_back(v);
  };
  while (!waiting.empty()) {
    const auto& v = *waiting.back();
    waiting.pop_back();
    if (is_weight(v)) return true;
    if (!seen_.insert(&v).second) continue;
    const auto& items = *v.items;
    look(items.arguments);
    look(items.state);
    for (const auto* item : items.list) look(item);
    for (const auto& [key, item] : items.pairs) look(item);
  }
  return false;
}

}  // namespace checkpoint
