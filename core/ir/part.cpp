#include "core/ir/part.hpp"

#include <tmeter/abi/base.h>
#include <tmeter/abi/graph.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/ir/builder.hpp"

namespace tmeter::core {
namespace {

using PartId = GraphBuilder::Id;
constexpr size_t kOutside = SIZE_MAX;
constexpr size_t kMaxCompared = 10'000;  // paths that are searched for the nearest name

PartId new_id(size_t index) { return static_cast<PartId>(index + 1); }

/// The module of "5.1"; null for an unknown id.
const Module* module_of_id(const Graph& graph, std::string_view id) {
  const auto* m = graph.modules().front();
  if (id == "0") return m;
  for (size_t at = 0; at <= id.size();) {
    const auto end = std::min(id.find('.', at), id.size());
    size_t place = 0;
    const auto parsed = std::from_chars(id.data() + at, id.data() + end, place);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == id.data() + end;
    if (!is_number || place < 1 || place > m->children.size()) return nullptr;
    m = m->children[place - 1];
    at = end + 1;
  }
  return m;
}

class PartMaker {
 public:
  PartMaker(const Graph& whole, const Module& root) : whole_(whole), root_(root) {}

  GraphPart make() {
    builder_.take_facts_of(whole_);
    const auto part = whole_.property("part");
    builder_.property("part", (part.empty() ? "" : std::string(part) + ", ") + "module " +
                                  std::string(root_.path));
    builder_.property("name", "");  // the file's name describes the whole model
    builder_.take_sizes_of(whole_);
    modules();
    calls();
    tensors();
    for (const auto& n : whole_.nodes())
      if (call_of(n) != kOutside) node(n);
    outputs();
    part_.graph = builder_.finish();
    return std::move(part_);
  }

 private:
  void modules() {
    new_module_.assign(whole_.modules().size(), kOutside);
    for (const auto* m : whole_.modules()) {
      const bool is_root = m == &root_;
      if (!is_root && (!m->parent || new_module_[m->parent->index] == kOutside)) continue;
      new_module_[m->index] = part_.modules.size();
      part_.modules.push_back(m->index);
      const PartId id = builder_.module(is_root ? 0 : new_id(new_module_[m->parent->index]),
                                        is_root ? std::string_view() : m->name, m->type);
      for (const auto& a : m->attributes) builder_.module_attribute(id, a.name, value(*a.value));
    }
  }

  /// Finds for each call the innermost call around it, itself included, that is in the part.
  void calls() {
    new_call_.assign(whole_.calls().size(), kOutside);
    for (const auto& c : whole_.calls()) {
      const auto around = c.parent ? new_call_[c.parent->index] : kOutside;
      const auto module = new_module_[c.module->index];
      if (module == kOutside) {
        new_call_[c.index] = around;
        continue;
      }
      new_call_[c.index] = part_.calls.size();
      part_.calls.push_back(c.index);
      builder_.module_call(new_id(module), around == kOutside ? 0 : new_id(around));
    }
  }

  size_t call_of(const Node& n) const { return new_call_[n.call->index]; }

  void tensors() {
    const auto prefix = root_.path.empty() ? std::string() : std::string(root_.path) + ".";
    for (const auto& t : whole_.tensors()) {
      const auto owner = new_module_[t.owner->index];
      if (owner == kOutside) continue;
      auto s = spec_of(t);
      if (s.name.starts_with(prefix)) s.name.remove_prefix(prefix.size());
      s.owner = new_id(owner);
      new_tensor_[&t] = builder_.tensor(s);
      part_.tensors.push_back(t.index);
    }
  }

  /// Tensors made by nodes of the part are known before their use; all others are from outside.
  PartId value(const Value& v) {
    const auto copied = made_.find(&v);
    if (copied != made_.end()) return copied->second;
    const PartId id = fresh(v, false);
    made_[&v] = id;
    return id;
  }

  PartId result(const Value& v) {
    const auto copied = made_.find(&v);
    if (copied != made_.end()) return copied->second;
    if (v.kind == TMETER_VALUE_LIST) {
      std::vector<PartId> items;
      for (const auto* item : v.items) items.push_back(result(*item));
      return made_[&v] = builder_.value_list(items);
    }
    return made_[&v] = fresh(v, true);
  }

  std::vector<DimSpec> dims_of(const Value& v) const {
    std::vector<DimSpec> dims;
    for (size_t i = 0; i < v.dims.size(); ++i)
      dims.push_back({v.dims[i], v.dim_exprs.empty() ? 0 : v.dim_exprs[i]});
    return dims;
  }

  PartId fresh(const Value& v, bool is_result) {
    switch (v.kind) {
      case TMETER_VALUE_TENSOR: {
        if (const auto t = new_tensor_.find(v.tensor); t != new_tensor_.end())
          return builder_.value_bound(t->second);
        const auto dims = dims_of(v);
        if (is_result) return builder_.value_tensor(v.dtype, dims);
        const PartId id = builder_.value_from_outside(v.dtype, dims);
        const bool later = v.producer && call_of(*v.producer) != kOutside;
        if (!later && !v.tensor) input(v, id);
        return id;
      }
      case TMETER_VALUE_INT:
        return builder_.value_int({v.i, v.expr});
      case TMETER_VALUE_BOOL:
        return builder_.value_bool(v.i != 0);
      case TMETER_VALUE_DTYPE:
        return builder_.value_dtype(static_cast<int32_t>(v.i));
      case TMETER_VALUE_FLOAT:
        return builder_.value_float(v.f);
      case TMETER_VALUE_TEXT:
        return builder_.value_text(v.text);
      case TMETER_VALUE_OTHER:
        return builder_.value_other(v.text);
      case TMETER_VALUE_LIST: {
        std::vector<PartId> items;
        for (const auto* item : v.items) items.push_back(value(*item));
        return builder_.value_list(items);
      }
      default:
        return builder_.value_none();
    }
  }

  /// Names an input of the part after the model's input, or after the module that makes it.
  void input(const Value& v, PartId id) {
    std::string name;
    for (const auto& i : whole_.inputs())
      if (i.value == &v) name = i.name;
    if (name.empty() && v.producer) name = v.producer->call->module->path;
    if (name.empty()) name = "input";
    const auto times = ++names_[name];
    if (times > 1) name += "#" + std::to_string(times);
    builder_.input(name, {}, id);
  }

  void node(const Node& n) {
    std::vector<std::pair<std::string_view, PartId>> arguments;
    for (const auto& a : n.args) arguments.emplace_back(a.name, value(*a.value));
    std::vector<PartId> results;
    for (const auto* r : n.results) results.push_back(result(*r));
    const PartId id =
        builder_.node(n.op, n.overload, new_id(call_of(n)), arguments, results, n.location);
    if (!n.name.empty()) builder_.node_name(id, n.name);
    part_.nodes.push_back(n.index);
  }

  void note_use(const Value& v) {
    for (const auto* item : v.items) note_use(*item);
    if (v.kind == TMETER_VALUE_TENSOR && v.producer && call_of(*v.producer) != kOutside)
      used_outside_.insert(&v);
  }

  void outputs() {
    for (const auto& n : whole_.nodes())
      if (call_of(n) == kOutside)
        for (const auto& a : n.args) note_use(*a.value);
    for (const auto* v : whole_.outputs()) note_use(*v);
    for (const auto i : part_.nodes)
      for (const auto* r : whole_.nodes()[i].results) output(*r);
  }

  void output(const Value& v) {
    for (const auto* item : v.items) output(*item);
    if (used_outside_.erase(&v) > 0) builder_.output(made_.at(&v));
  }

  const Graph& whole_;
  const Module& root_;
  GraphBuilder builder_;
  GraphPart part_;
  std::vector<size_t> new_module_, new_call_;  // by index in the whole; kOutside
  std::unordered_map<const Tensor*, PartId> new_tensor_;
  std::unordered_map<const Value*, PartId> made_;
  std::unordered_map<std::string, size_t> names_;
  std::unordered_set<const Value*> used_outside_;
};

}  // namespace

const Module& find_module(const Graph& graph, std::string_view path_or_id) {
  const auto relative = path_or_id.substr(path_or_id.starts_with('.') ? 1 : 0);
  for (const auto* m : graph.modules())
    if (m->path == relative) return *m;
  if (const auto* m = module_of_id(graph, relative)) return *m;
  std::vector<std::string> paths;
  for (const auto* m : graph.modules())
    if (!m->path.empty() && paths.size() < kMaxCompared) paths.emplace_back(m->path);
  throw Error(ErrorKind::kUsage, "--root " + printable(path_or_id) +
                                     ": there is no module with this path or id" +
                                     did_you_mean(std::string(path_or_id), paths) +
                                     "; as in --root layer1.0 or --root 5.1");
}

GraphPart part_of(const Graph& whole, const Module& root) { return PartMaker(whole, root).make(); }

}  // namespace tmeter::core
