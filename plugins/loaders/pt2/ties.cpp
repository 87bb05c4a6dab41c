#include "ties.hpp"

#include <algorithm>
#include <set>

namespace pt2 {
namespace {

/// Parameters that no operator reads and that look alike, in the order of the file.
class Unread {
 public:
  void add(size_t tensor, std::string_view name) {
    left_.insert(tensor);
    by_name_[name].push_back(tensor);
  }

  /// The only one, or else the first of this name.
  std::optional<size_t> take(std::string_view name) {
    if (left_.size() == 1) return remove(*left_.begin());
    const auto it = by_name_.find(name);
    if (it == by_name_.end()) return std::nullopt;
    auto& tensors = it->second;
    while (!tensors.empty() && !left_.contains(tensors.front())) tensors.pop_front();
    return tensors.empty() ? std::nullopt : remove(tensors.front());
  }

  const std::set<size_t>& left() const { return left_; }

 private:
  std::optional<size_t> remove(size_t tensor) {
    left_.erase(tensor);
    return tensor;
  }

  std::set<size_t> left_;
  std::map<std::string_view, std::deque<size_t>> by_name_;
};

class Search {
 public:
  Search(Tensors& tensors, std::deque<std::string>& keys)
      : all_(tensors), tensors_(tensors.all()), keys_(keys), used_(tensors_.size()) {
    const auto keyless = [&](size_t i) { return tensors_[i].storage_key.empty(); };
    by_argument_.reserve(tensors_.size());
    for (size_t i = 0; i < tensors_.size(); ++i)
      if (keyless(i)) by_argument_.insert(tensors_[i].spec.argument, i);
    for (const auto& [alias, i] : tensors.aliases())
      if (keyless(i)) by_argument_.insert(alias, i);
  }

  bool has_candidates() const { return !by_argument_.entries().empty(); }

  void read_uses(const Uses& uses) {
    for (const auto& [name, module] : uses.all()) {
      const auto* i = by_argument_.find(name);
      if (!i) continue;
      used_[*i] = true;
      if (module != tensors_[*i].owner) foreign_uses_.emplace(module, *i);
    }
  }

  void tie() {
    for (size_t i = 0; i < tensors_.size(); ++i)
      if (tensors_[i].storage_key.empty() && !used_[i])
        unread_[description(i, tensors_[i].owner)].add(i, last_part(tensors_[i].spec.name));
    for (const auto& [module, used] : foreign_uses_) {
      const auto it = unread_.find(description(used, module));
      if (it != unread_.end()) tie_one(it->second, used);
    }
  }

  /// Unread parameters that look like one that is read from outside its module.
  void report(Notes& notes) const {
    std::map<std::string, size_t> read;
    for (const auto& [module, i] : foreign_uses_) read.emplace(description(i, 0), i);
    for (const auto& [key, indices] : unread_) {
      for (const size_t i : indices.left()) {
        const auto twin = read.find(description(i, 0));
        // Vectors look alike everywhere (biases, norms): only matrices say something.
        if (twin == read.end() || tensors_[i].rank < 2) continue;
        if (tensors_[i].spec.kind != TMETER_TENSOR_PARAMETER) continue;
        notes.warn("parameters that may be tied",
                   "no operator reads the parameter " + in_quotes(tensors_[i].spec.name) +
                       ", and the file does not tell whether it is tied to another (" +
                       in_quotes(tensors_[twin->second].spec.name) +
                       " has its type and sizes): it is counted");
      }
    }
  }

 private:
  /// Equal for tensors of a module that could be the same memory.
  std::string description(size_t i, Modules::Index module) const {
    const auto& t = tensors_[i];
    std::string text = std::to_string(module) + ":" + std::to_string(t.spec.kind) + "," +
                       std::to_string(t.dtype.id()) + (t.trainable ? ",grad" : ",");
    for (const auto d : all_.sizes(t)) text += "," + std::to_string(d);
    text += ";";
    for (const auto s : all_.strides(t)) text += std::to_string(s) + ",";
    return text + "@" + std::to_string(t.storage_offset);
  }

  static std::string_view last_part(std::string_view name) {
    return name.substr(name.rfind('.') + 1);
  }

  void tie_one(Unread& unread, size_t used) {
    const auto chosen = unread.take(last_part(tensors_[used].spec.name));
    if (!chosen) return;
    auto& key = tensors_[used].storage_key;
    if (key.empty()) key = keys_.emplace_back("tied:" + std::string(tensors_[used].spec.name));
    tensors_[*chosen].storage_key = key;
  }

  Tensors& all_;
  std::vector<StoredTensor>& tensors_;
  std::deque<std::string>& keys_;
  std::vector<bool> used_;
  NameMap<size_t> by_argument_;
  std::set<std::pair<Modules::Index, size_t>> foreign_uses_;  // of a tensor by a module
  std::map<std::string, Unread> unread_;                      // by description
};

}  // namespace

Uses::Uses(const Signature& signature) {
  names_.reserve(signature.tensors.size());
  for (const auto& tensor : signature.tensors)
    names_.insert(tensor.argument, names_.entries().size());
  last_.resize(names_.entries().size(), kNowhere);
}

void Uses::read(const std::vector<NodeView>& nodes, const Modules& modules) {
  for (const auto& node : nodes) read(node, modules);
}

void Uses::read(const NodeView& node, const Modules& modules) {
  for (const json::element input : node.inputs)
    read_argument(member(as_object(input), "arg"), modules.module_of(node));
}

void Uses::read(std::string_view name, uint32_t number, Modules::Index module) {
  if (number >= by_number_.size())
    by_number_.resize(std::max<size_t>(2 * by_number_.size(), number + 1));
  auto& known = by_number_[number];
  if (known == 0) known = names_.find_entry(name) + 1;
  if (known > 1) read_parameter(known - 2, module);
}

void Uses::read_argument(json::element argument, Modules::Index module) {
  const auto tagged = as_tagged(argument);
  if (is(tagged.kind, "as_tensor")) return read_tensor(tagged.value, module);
  if (is(tagged.kind, "as_tensors"))
    for (const json::element e : as_array(tagged.value)) read_tensor(e, module);
  if (tagged.kind == "as_optional_tensors") {
    for (const json::element e : as_array(tagged.value)) {
      const auto item = as_tagged(e);
      if (item.kind == "as_tensor") read_tensor(item.value, module);
    }
  }
}

void Uses::read_tensor(json::element tensor, Modules::Index module) {
  read_name(text_member(as_object(tensor), "name"), module);
}

void Uses::read_name(std::string_view name, Modules::Index module) {
  if (const auto entry = names_.find_entry(name)) read_parameter(entry - 1, module);
}

void Uses::read_parameter(size_t index, Modules::Index module) {
  if (last_[index] == module) return;
  last_[index] = module;
  all_.emplace_back(names_.entries()[index].name, module);
}

void find_ties(Tensors& tensors, const Uses& uses, Notes& notes, std::deque<std::string>& keys) {
  Search search(tensors, keys);
  if (!search.has_candidates()) return;
  search.read_uses(uses);
  search.tie();
  search.report(notes);
}

}  // namespace pt2
