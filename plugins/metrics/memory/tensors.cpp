#include "tensors.hpp"

#include <algorithm>
#include <unordered_set>

namespace memory {
namespace {

using tmeter::Value;

/// Lists of lists of tensors exist (`index` takes a list of optional tensors); deeper is not real.
constexpr int kMaxListDepth = 4;

void collect(const Value& value, int depth, TensorSet& out) {
  if (value.is_tensor()) {
    out.complete = out.complete && can_be_sized(value);
    out.tensors.push_back(value);
  } else if (value.is_list()) {
    if (depth == kMaxListDepth) out.complete = false;
    for (size_t i = 0; i < value.size() && out.complete; ++i) collect(value[i], depth + 1, out);
  }
}

/// The identity of a value's memory: the stored tensor behind it, else the value itself.
const void* identity(const Value& value) {
  const auto stored = value.tensor();
  return stored ? static_cast<const void*>(stored.canonical().handle())
                : static_cast<const void*>(value.handle());
}

/// `quantized::linear(X, W_prepack, …)`: the weights are inside an object and have no size here.
bool hides_weights(std::string_view name, const Value& value) {
  return value.kind() == TMETER_VALUE_OTHER && name.find("pack") != std::string_view::npos;
}

}  // namespace

bool can_be_sized(const Value& tensor) {
  const auto shape = tensor.shape();
  return tensor.dtype().bytes() > 0 &&
         std::all_of(shape.begin(), shape.end(), [](int64_t dim) { return dim >= 0; });
}

void TensorSet::add(const Value& value) { collect(value, 0, *this); }

void TensorSet::keep_distinct() {
  if (tensors.size() < 2) return;
  std::vector<const void*> ids;
  for (const auto& v : tensors) ids.push_back(identity(v));
  auto sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return;
  std::unordered_set<const void*> seen;
  size_t i = 0;
  std::erase_if(tensors, [&](const Value&) { return !seen.insert(ids[i++]).second; });
}

tmeter::Count TensorSet::bytes() const {
  tmeter::Count sum = 0;
  for (const auto& t : tensors) sum += t.bytes();
  return sum;
}

TensorSet inputs_of(const tmeter::Node& node, std::string_view skip) {
  TensorSet out;
  for (size_t i = 0; i < node.arg_count() && out.complete; ++i) {
    const auto name = node.arg_name(i);
    if (!skip.empty() && name == skip) continue;
    const auto value = node.arg(i);
    if (hides_weights(name, value)) out.complete = false;
    collect(value, 0, out);
  }
  out.keep_distinct();
  return out;
}

TensorSet results_of(const tmeter::Node& node) {
  TensorSet out;
  for (size_t i = 0; i < node.result_count() && out.complete; ++i) {
    collect(node.result(i), 0, out);
  }
  return out;
}

}  // namespace memory
