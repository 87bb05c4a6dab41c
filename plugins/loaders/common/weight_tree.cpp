#include "weight_tree.hpp"

#include <algorithm>
#include <tmeter/cpp/natural_order.hpp>

#include "bad_file.hpp"

namespace loading {
namespace {

constexpr size_t kMaxNameBytes = 64 * 1024;

}  // namespace

void check_name(std::string_view name) {
  if (name.size() > kMaxNameBytes)
    throw BadFile("a tensor has a name of " + std::to_string(name.size()) + " bytes");
  if (!is_utf8(name)) throw BadFile("the name of a tensor is not UTF-8");
}

tmeter_id WeightTree::owner_of(std::string_view tensor_name) {
  const auto same = tmeter::natural_order::same_bytes(last_, tensor_name);
  if (in_order_ && !tmeter::natural_order::less_behind(same, last_, tensor_name)) {
    children_.insert(made_.begin(), made_.end());
    made_ = {};
    in_order_ = false;
  }
  while (!last_modules_.empty() && last_modules_.back().first >= same) last_modules_.pop_back();
  tmeter_id module = last_modules_.empty() ? root_ : last_modules_.back().second;
  size_t begin = last_modules_.empty() ? 0 : last_modules_.back().first + 1;
  for (size_t dot; (dot = tensor_name.find('.', begin)) != std::string_view::npos;
       begin = dot + 1) {
    module = child(module, tensor_name.substr(begin, dot - begin));
    last_modules_.emplace_back(dot, module);
  }
  last_ = tensor_name;
  return module;
}

tmeter_id WeightTree::child(tmeter_id parent, std::string_view name) {
  if (const auto it = children_.find({parent, name}); it != children_.end()) return it->second;
  auto* kept = static_cast<char*>(texts_.allocate(name.size() + 1, 1));
  std::copy(name.begin(), name.end(), kept);
  const std::pair made{Child{parent, {kept, name.size()}}, graph_.module(parent, name, "")};
  if (in_order_)
    made_.push_back(made);
  else
    children_.insert(made);
  return made.second;
}

void WeightTree::add(tmeter_tensor_desc tensor, TensorKinds& kinds) {
  kinds.is_buffer(tensor) ? add_buffer(tensor) : add_parameter(tensor, true);
}

void WeightTree::add_buffer(tmeter_tensor_desc tensor) {
  tensor.kind = TMETER_TENSOR_BUFFER;
  push(tensor);
}

void WeightTree::add_parameter(tmeter_tensor_desc tensor, bool trainable) {
  tensor.kind = TMETER_TENSOR_PARAMETER;
  tensor.trainable = trainable;
  push(tensor);
}

void WeightTree::push(tmeter_tensor_desc& tensor) {
  const auto name = tmeter::to_view(tensor.name);
  check_name(name);
  if (tensor.owner == 0) tensor.owner = owner_of(name);
  graph_.tensor(tensor);
}

}  // namespace loading
