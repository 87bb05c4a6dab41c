#include "modules.hpp"

#include "../common/bad_file.hpp"
#include "choice.hpp"
#include "dtypes.hpp"
#include "tensors.hpp"

namespace checkpoint {
namespace {

using loading::BadFile;
using loading::in_quotes;

/// Limit for the attributes of all modules together; a real module has some twenty.
constexpr size_t kMaxAttributes = 10'000'000;
constexpr size_t kMaxItems = 16;              // items of an attribute that is a tuple or list
constexpr size_t kMaxPacked = 3;              // tuples in tuples of packed weights
constexpr size_t kMaxAttributeBytes = 1'024;  // length of an attribute that is a text

bool is_sequence(const Value& v) { return v.is(Kind::kTuple) || v.is(Kind::kList); }

std::string path_of(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

}  // namespace

void ModulePusher::push(const Value& root) {
  waiting_.push_back({&root, 0, nullptr, {}});
  while (!waiting_.empty()) {
    const auto next = waiting_.back();
    waiting_.pop_back();
    // A module registered twice is one module under its first name, as in named_modules().
    if (seen_.insert(next.module).second) push_module(next);
  }
}

void ModulePusher::push_module(const PendingModule& one) {
  const auto& attributes = *attributes_of(*one.module);
  const auto path = one.parent_path ? path_of(*one.parent_path, one.name) : std::string();
  count_attributes(attributes);
  const auto id = graph_.module(one.parent, one.name, one.module->items->callable->text);
  push_tensors(attributes.find("_parameters"), path, id, TMETER_TENSOR_PARAMETER);
  push_tensors(attributes.find("_buffers"), path, id, TMETER_TENSOR_BUFFER);
  for (const auto& [key, value] : attributes.items->pairs) {
    if (!key->is(Kind::kText)) continue;
    if (value->is_object_of("torch.ScriptObject"))
      push_packed(value->items->state, path_of(path, key->text), id, 0);
    if (key->text.starts_with('_') || key->text == "training") continue;
    if (Tensors::is_tensor(*value)) {
      push_tensor(*value, path_of(path, key->text), id, TMETER_TENSOR_CONSTANT);
    } else {
      push_attribute(key->text, *value, id);
    }
  }
  queue_children(*attributes.find("_modules"), path, id);
}

void ModulePusher::queue_children(const Value& children, const std::string& path,
                                  tmeter_id parent) {
  if (!children.is(Kind::kDict))
    throw BadFile("the modules of " + in_quotes(path) + " are not a dict");
  const auto shared_path = std::make_shared<const std::string>(path);
  const auto first = waiting_.size();
  for (const auto& [key, child] : children.items->pairs) {
    if (!key->is(Kind::kText) || seen_.contains(child)) continue;
    loading::check_name(key->text);
    if (is_module(*child)) {
      waiting_.push_back({child, parent, shared_path, key->text});
    } else if (child->is(Kind::kObject)) {
      const auto full = path_of(path, key->text);
      if (child->is_placeholder) refuse_placeholder(*child, "module " + in_quotes(full));
      if (weights_.in(*child))
        left_out_.push_back(in_quotes(full) + " (" + loading::shown(child->items->callable->text) +
                            ")");
    }
  }
  std::reverse(waiting_.begin() + static_cast<std::ptrdiff_t>(first), waiting_.end());
}

/// Many modules may share one dict.
void ModulePusher::count_attributes(const Value& attributes) {
  attribute_count_ += attributes.items->pairs.size();
  if (attribute_count_ > kMaxAttributes)
    throw BadFile("its modules have more than 10,000,000 attributes, tmeter's limit");
}

void ModulePusher::push_tensors(const Value* dict, const std::string& path, tmeter_id owner,
                                int32_t kind) {
  if (!dict) return;
  const auto* what = kind == TMETER_TENSOR_PARAMETER ? "parameter " : "buffer ";
  if (dict->is(Kind::kObject) && dict->is_placeholder)
    refuse_placeholder(*dict, std::string("the ") + what + "list of " + in_quotes(path));
  if (!dict->is(Kind::kDict)) return;
  count_attributes(*dict);
  for (const auto& [key, value] : dict->items->pairs) {
    if (!key->is(Kind::kText) || value->is(Kind::kNone)) continue;  // None: not registered
    loading::check_name(key->text);
    const auto name = path_of(path, key->text);
    if (value->is_placeholder) refuse_placeholder(*value, what + in_quotes(name));
    if (Tensors::is_tensor(*value)) push_tensor(*value, name, owner, kind);
  }
}

void ModulePusher::push_tensor(const Value& value, const std::string& name, tmeter_id owner,
                               int32_t kind) {
  tensors_.read(value, name, [&](const std::string& part, const Tensor& t) {
    auto desc = describer_.describe(part, t);
    desc.owner = owner;
    desc.kind = kind;
    desc.trainable = kind == TMETER_TENSOR_PARAMETER && t.requires_grad;
    graph_.tensor(desc);
    ++tensor_count_;
  });
}

/// Weights of a quantized module: nested tuples in the state of a LibTorch object.
void ModulePusher::push_packed(const Value* state, const std::string& name, tmeter_id owner,
                               size_t depth) {
  if (!state || depth > kMaxPacked) return;
  if (Tensors::is_tensor(*state)) return push_tensor(*state, name, owner, TMETER_TENSOR_PARAMETER);
  if (!is_sequence(*state) || state->list().size() > kMaxItems) return;
  for (size_t i = 0; i < state->list().size(); ++i)
    push_packed(state->list()[i], name + "." + std::to_string(i), owner, depth + 1);
}

/// The value of a plain attribute; 0 for others. Made once, because many modules may share it.
tmeter_id ModulePusher::scalar(const Value& v) {
  const auto [it, added] = scalars_.try_emplace(&v, 0);
  if (added) it->second = new_scalar(v);
  return it->second;
}

tmeter_id ModulePusher::new_scalar(const Value& v) {
  switch (v.kind) {
    case Kind::kBool:
      return graph_.boolean(v.integer != 0);
    case Kind::kInt:
      return graph_.integer(v.integer);
    case Kind::kFloat:
      return graph_.real(v.real);
    case Kind::kText:
      return v.text.size() <= kMaxAttributeBytes && loading::is_utf8(v.text) ? graph_.text(v.text)
                                                                             : 0;
    case Kind::kGlobal:
      if (const auto dtype = dtype_named(v.text); dtype.known()) return graph_.dtype(dtype);
      return loading::is_utf8(v.text) ? graph_.other(v.text) : 0;  // an activation function
    default:
      return 0;
  }
}

void ModulePusher::push_attribute(std::string_view name, const Value& value, tmeter_id module) {
  if (!loading::is_utf8(name)) return;
  if (const auto id = scalar(value)) return graph_.module_attribute(module, name, id);
  if (const auto id = sequence(value)) graph_.module_attribute(module, name, id);
}

tmeter_id ModulePusher::sequence(const Value& value) {
  if (!is_sequence(value) || value.list().empty() || value.list().size() > kMaxItems) return 0;
  const auto [it, added] = sequences_.try_emplace(&value, 0);
  if (!added) return it->second;
  std::vector<tmeter_id> items;
  for (const auto* item : value.list()) {
    items.push_back(scalar(*item));
    if (items.back() == 0) return 0;
  }
  return it->second = graph_.list(items);
}

}  // namespace checkpoint
