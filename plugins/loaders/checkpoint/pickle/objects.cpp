// The opcodes that name classes and functions, make objects of them, or request calls.
#include <algorithm>
#include <cctype>

#include "../../common/bad_file.hpp"
#include "globals.hpp"
#include "unpickler.hpp"

namespace checkpoint {
namespace {

using loading::BadFile;
using loading::shown;

constexpr std::string_view kGetattr = "builtins.getattr";

/// A plain name, not one of Python's own ("__globals__").
bool is_member_name(std::string_view name) {
  return !name.empty() && name.front() != '_' && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

}  // namespace

void Unpickler::refuse_global(const Value& global, std::string_view what) const {
  throw BadFile((place_.empty() ? "" : place_ + " ") + "byte " + std::to_string(global.at) + ": " +
                    std::string(what) + " " + shown(global.text) +
                    ", which can run code when Python loads the file; tmeter ran nothing",
                "if you trust the author of the file, load it in Python and save only its "
                "state_dict(); otherwise do not load it at all");
}

void Unpickler::push_global(std::string_view module, std::string_view name) {
  if (module.size() + name.size() > limits::kMaxLineBytes)
    refuse("the name of a class is too long");
  if (!loading::is_utf8(module) || !loading::is_utf8(name))
    refuse("the name of a class is not UTF-8");
  auto* v = make(Kind::kGlobal);
  set_name(*v, global_name(module, name));
  if (trust_of(*v) == Trust::kRefuse) {
    if (v->text != kGetattr) refuse_global(*v, "refers to");
    getattr_ = v;
  }
  push(v);
}

/// Names are few and mentioned often, so the verdict on each is cached.
void Unpickler::set_name(Value& global, std::string name) {
  auto entry = names_.find(name);
  if (entry == names_.end()) {
    if (names_.size() >= limits::kNames)
      refuse("more than 100,000 different names of classes, tmeter's limit");
    const auto kept = arena_.keep(std::move(name));
    entry = names_.emplace(kept, trust(kept)).first;
  }
  global.text = entry->first;
  global.integer = static_cast<int64_t>(entry->second);
}

Trust Unpickler::trust_of(const Value& global) { return static_cast<Trust>(global.integer); }

void Unpickler::op_global(const Operand& o) { push_global(o.bytes, o.second); }
void Unpickler::op_stack_global(const Operand&) {
  const auto* name = pop();
  const auto* module = pop();
  if (!name->is(Kind::kText) || !module->is(Kind::kText))
    refuse("the name of a class is not a string");
  push_global(module->text, name->text);
}

/// REDUCE: the value of `function(*arguments)`.
const Value* Unpickler::called(const Value& function, const Value& arguments) {
  if (!function.is(Kind::kGlobal)) refuse("REDUCE calls a value that is not a class or function");
  if (!arguments.is(Kind::kTuple)) refuse("REDUCE has no tuple of arguments");
  if (function.text == kGetattr) return member_of_class(function, arguments);
  if (trust_of(function) == Trust::kClass) return placeholder(function, arguments);
  if (trust_of(function) != Trust::kCall) refuse_global(function, "calls");
  if (function.text == "copyreg._reconstructor") return reconstructed(arguments);
  if (is_dict_type(function.text)) return dict_of(function, arguments);
  if (is_list_type(function.text)) return sequence_of(Kind::kList, function, arguments);
  if (is_set_type(function.text)) return sequence_of(Kind::kSet, function, arguments);
  if (function.text == "torch.Size" || function.text == "builtins.tuple")
    return sequence_of(Kind::kTuple, function, arguments);
  return object(function, arguments);
}

const Value* Unpickler::object(const Value& type, const Value& arguments) {
  auto* v = make(Kind::kObject);
  v->items->callable = &type;
  v->items->arguments = &arguments;
  return v;
}

/// A placeholder for an object of an unknown class. Readers of tensors refuse it; elsewhere it is
/// harmless.
const Value* Unpickler::placeholder(const Value& type, const Value& arguments) {
  auto* v = make(Kind::kObject);
  v->items->callable = &type;
  v->items->arguments = &arguments;
  v->is_placeholder = true;
  ++called_[type.text];
  return v;
}

/// getattr(Format, 'NCHW'), as Python 3.11 pickles a member of an enum; other uses of getattr reach
/// anything.
const Value* Unpickler::member_of_class(const Value& getattr, const Value& arguments) {
  const auto& list = arguments.list();
  const bool form = list.size() == 2 && list[0]->is(Kind::kGlobal) && list[1]->is(Kind::kText) &&
                    trust_of(*list[0]) == Trust::kClass && is_member_name(list[1]->text);
  if (!form) refuse_global(getattr, "calls");
  getattr_ = nullptr;
  auto* v = make(Kind::kGlobal);
  set_name(*v, std::string(list[0]->text) + "." + std::string(list[1]->text));
  if (trust_of(*v) == Trust::kRefuse) refuse_global(*v, "refers to");
  return v;
}

/// OrderedDict(), OrderedDict([[key, value], …]), Counter({…}), defaultdict(list).
const Value* Unpickler::dict_of(const Value& type, const Value& arguments) {
  auto* v = make(Kind::kDict);
  v->items->callable = &type;
  for (const auto* argument : arguments.list()) {
    if (argument->is(Kind::kDict)) v->items->pairs = argument->items->pairs;
    if (!argument->is(Kind::kList)) continue;
    for (const auto* pair : argument->list()) {
      const bool sequence = pair->is(Kind::kList) || pair->is(Kind::kTuple);
      if (!sequence || pair->list().size() != 2) refuse("the items of a dict are not pairs");
      set_items(*v->items, pair->list());
    }
  }
  count_copied(v->items->pairs.size());
  return v;
}

/// set([…]), deque([…], 10), torch.Size((…)).
const Value* Unpickler::sequence_of(Kind kind, const Value& type, const Value& arguments) {
  auto* v = make(kind);
  v->items->callable = &type;
  if (arguments.list().empty()) return v;
  const auto* content = arguments.list().front();
  const bool sequence =
      content->is(Kind::kList) || content->is(Kind::kTuple) || content->is(Kind::kSet);
  if (sequence) v->items->list = content->list();
  count_copied(v->items->list.size());
  return v;
}

/// Bounds copies: a few bytes of pickle copy a container of any size.
void Unpickler::count_copied(size_t items) {
  copied_ += items;
  if (copied_ > limits::kCopied) refuse("more than 10,000,000 copied references, tmeter's limit");
}

/// copyreg._reconstructor(class, base, state), how protocol 1 makes objects.
const Value* Unpickler::reconstructed(const Value& arguments) {
  if (arguments.list().size() != 3 || !arguments.list().front()->is(Kind::kGlobal))
    refuse("copyreg._reconstructor has the wrong arguments");
  const auto& type = *arguments.list().front();
  if (is_dict_type(type.text)) return dict_of(type, *empty_);
  return object(type, *empty_);
}

void Unpickler::op_reduce(const Operand&) {
  const auto* arguments = pop();
  const auto* function = pop();
  push(called(*function, *arguments));
}

void Unpickler::op_new_object(const Operand&) {
  const auto* arguments = pop();
  const auto* type = pop();
  if (!type->is(Kind::kGlobal)) refuse("NEWOBJ makes an object of a value that is not a class");
  if (!arguments->is(Kind::kTuple)) refuse("NEWOBJ has no tuple of arguments");
  push(is_dict_type(type->text) ? dict_of(*type, *arguments) : object(*type, *arguments));
}
void Unpickler::op_new_object_ex(const Operand& o) {
  if (!pop()->is(Kind::kDict)) refuse("NEWOBJ_EX has no dict of arguments");
  op_new_object(o);
}

void Unpickler::op_build(const Operand&) {
  const auto* state = pop();
  const auto* v = top();
  if (!v->is(Kind::kObject) && !v->is(Kind::kDict))
    refuse("BUILD sets the state of a value that is not an object");
  v->items->state = state;
}

/// The id of a storage; in old files also of a class, with its source.
void Unpickler::op_persistent_id(const Operand&) {
  const auto* id = pop();
  const bool tuple = id->is(Kind::kTuple) && !id->list().empty();
  if (tuple && id->list().size() == 4 && id->list()[0]->is_text("module") &&
      id->list()[1]->is(Kind::kGlobal))
    return push(id->list()[1]);
  if (!tuple || !id->list()[0]->is_text("storage"))
    refuse("BINPERSID refers to a value that is not a storage");
  auto* v = make(Kind::kStorage);
  v->items->list = id->list();
  storages_.push_back(v);
  push(v);
}

}  // namespace checkpoint
