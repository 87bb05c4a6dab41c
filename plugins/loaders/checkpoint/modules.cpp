#include "modules.hpp"

#include "../common/bad_file.hpp"
#include "../common/utf8.hpp"
#include "choice.hpp"
#include "dtypes.hpp"

namespace checkpoint {
namespace {

using loading::BadFile;

constexpr size_t kMaxItems = 16;        // of an attribute that is a tuple or list
constexpr size_t kMaxPacked = 3;        // tuples in tuples of packed weights
constexpr size_t kLongestText = 1'024;  // of an attribute that is a text

bool is_sequence(const Value& v) { return v.is(Kind::kTuple) || v.is(Kind::kList); }

std::string path_of(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

}  // namespace

void ModulePusher::push(const Value& root) {
  waiting_.push_back({&root, 0, ""});
  while (!waiting_.empty()) {
    const auto next = waiting_.back();
    waiting_.pop_back();
    // A module registered twice is one module: the first name counts, as in named_modules().
    if (seen_.insert(next.module).second) push_module(next);
  }
}

void ModulePusher::push_module(const Waiting& one) {
  const auto& attributes = *attributes_of(*one.module);
  const auto name = std::string_view(one.path).substr(one.path.rfind('.') + 1);
  const auto id = graph_.module(one.parent, name, one.module->items->callable->text);
  push_tensors(attributes.find("_parameters"), one.path, id, TMETER_TENSOR_PARAMETER);
  push_tensors(attributes.find("_buffers"), one.path, id, TMETER_TENSOR_BUFFER);
  for (const auto& [key, value] : attributes.items->pairs) {
    if (!key->is(Kind::kText)) continue;
    if (value->is_object_of("torch.ScriptObject"))
      push_packed(value->items->state, path_of(one.path, key->text), id, 0);
    if (key->text.starts_with('_') || key->text == "training") continue;
    if (Tensors::is_tensor(*value)) {
      push_tensor(*value, path_of(one.path, key->text), id, TMETER_TENSOR_CONSTANT);
    } else {
      push_attribute(key->text, *value, id);
    }
  }
  const auto* children = attributes.find("_modules");
  if (!children->is(Kind::kDict)) throw BadFile("the modules of '" + one.path + "' are no dict");
  const auto first = waiting_.size();
  for (const auto& [key, child] : children->items->pairs) {
    if (!key->is(Kind::kText) || !is_module(*child) || seen_.contains(child)) continue;
    loading::check_name(key->text);
    waiting_.push_back({child, id, path_of(one.path, key->text)});
  }
  std::reverse(waiting_.begin() + static_cast<std::ptrdiff_t>(first), waiting_.end());
}

void ModulePusher::push_tensors(const Value* dict, const std::string& path, tmeter_id owner,
                                int32_t kind) {
  if (!dict || !dict->is(Kind::kDict)) return;
  for (const auto& [key, value] : dict->items->pairs) {
    if (!key->is(Kind::kText) || !Tensors::is_tensor(*value)) continue;  // None: not registered
    loading::check_name(key->text);
    push_tensor(*value, path_of(path, key->text), owner, kind);
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

/// Weights of a quantized module, inside an object of LibTorch's whose state is nested tuples.
void ModulePusher::push_packed(const Value* state, const std::string& name, tmeter_id owner,
                               size_t depth) {
  if (!state || depth > kMaxPacked) return;
  if (Tensors::is_tensor(*state)) return push_tensor(*state, name, owner, TMETER_TENSOR_PARAMETER);
  if (!is_sequence(*state) || state->list().size() > kMaxItems) return;
  for (size_t i = 0; i < state->list().size(); ++i)
    push_packed(state->list()[i], name + "." + std::to_string(i), owner, depth + 1);
}

/// The value of a plain attribute; 0 when it is none.
tmeter_id ModulePusher::scalar(const Value& v) {
  switch (v.kind) {
    case Kind::kBool:
      return graph_.boolean(v.integer != 0);
    case Kind::kInt:
      return graph_.integer(v.integer);
    case Kind::kFloat:
      return graph_.real(v.real);
    case Kind::kText:
      return v.text.size() <= kLongestText && loading::is_utf8(v.text) ? graph_.text(v.text) : 0;
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
  if (!is_sequence(value) || value.list().empty() || value.list().size() > kMaxItems) return;
  std::vector<tmeter_id> items;
  for (const auto* item : value.list()) {
    items.push_back(scalar(*item));
    if (items.back() == 0) return;
  }
  graph_.module_attribute(module, name, graph_.list(items));
}

}  // namespace checkpoint
