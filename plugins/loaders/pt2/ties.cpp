#include "ties.hpp"

#include <algorithm>
#include <set>

namespace pt2 {
namespace {

/// Unread parameters with the same description, in the order of the file.
class UnreadParameters {
 public:
  void add(size_t tensor, std::string_view name) {
    left_.insert(tensor);
    by_name_[name].push_back(tensor);
  }

  /// The only remaining tensor, or else the first with this name.
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
    tensor_of_.resize(tensors.specs());
    for (size_t i = 0; i < tensor_of_.size(); ++i) {
      tensor_of_[i] = tensors.tensor_of(i);
      has_candidates_ = has_candidates_ || tensors_[tensor_of_[i]].storage_key.empty();
    }
  }

  bool has_candidates() const { return has_candidates_; }

  void read_uses(const Uses& uses) {
    for (const auto& [spec, module] : uses.all()) {
      const size_t i = tensor_of_[spec];
      if (!tensors_[i].storage_key.empty()) continue;
      used_[i] = true;
      if (module != tensors_[i].owner) foreign_uses_.emplace(module, i);
    }
  }

  void tie() {
    for (size_t i = 0; i < tensors_.size(); ++i)
      if (tensors_[i].storage_key.empty() && !used_[i])
        unread_[description(i, tensors_[i].owner)].add(i, last_part(tensors_[i].spec->name));
    for (const auto& [module, used] : foreign_uses_) {
      const auto it = unread_.find(description(used, module));
      if (it != unread_.end()) tie_one(it->second, used);
    }
  }

  /// Warns of unread parameters that resemble one that another module reads.
  void report(Notes& notes) const {
    std::map<std::string, size_t> read;
    for (const auto& [module, i] : foreign_uses_) read.emplace(description(i, 0), i);
    for (const auto& [key, indices] : unread_) {
      for (const size_t i : indices.left()) {
        const auto twin = read.find(description(i, 0));
        // Biases and norms resemble each other everywhere, so vectors prove nothing.
        if (twin == read.end() || tensors_[i].rank < 2) continue;
        if (tensors_[i].spec->kind != TMETER_TENSOR_PARAMETER) continue;
        notes.warn("parameters that may be tied",
                   "no operator reads the parameter " + in_quotes(tensors_[i].spec->name) +
                       ", and the file does not state whether it is tied to another (" +
                       in_quotes(tensors_[twin->second].spec->name) +
                       " has its type and sizes): it is counted");
      }
    }
  }

 private:
  /// Equal for tensors of a module that could share memory.
  std::string description(size_t i, Modules::Index module) const {
    const auto& t = tensors_[i];
    std::string text = std::to_string(module) + ":" + std::to_string(t.spec->kind) + "," +
                       std::to_string(t.dtype.id()) + (t.trainable ? ",grad" : ",");
    for (const auto d : all_.sizes(t)) text += "," + std::to_string(d);
    text += ";";
    for (const auto s : all_.strides(t)) text += std::to_string(s) + ",";
    return text + "@" + std::to_string(t.storage_offset);
  }

  static std::string_view last_part(std::string_view name) {
    return name.substr(name.rfind('.') + 1);
  }

  void tie_one(UnreadParameters& unread, size_t used) {
    const auto chosen = unread.take(last_part(tensors_[used].spec->name));
    if (!chosen) return;
    auto& key = tensors_[used].storage_key;
    if (key.empty()) key = keys_.emplace_back("tied:" + std::string(tensors_[used].spec->name));
    tensors_[*chosen].storage_key = key;
  }

  Tensors& all_;
  std::vector<StoredTensor>& tensors_;
  std::deque<std::string>& keys_;
  std::vector<bool> used_;
  std::vector<uint32_t> tensor_of_;  // key: index in the signature
  bool has_candidates_ = false;
  std::set<std::pair<Modules::Index, size_t>> foreign_uses_;  // a module's reads of a tensor
  std::map<std::string, UnreadParameters> unread_;            // key: description
};

}  // namespace

Uses::Uses(const Signature& signature, const Scope& scope)
    : signature_(signature), scope_(scope), last_(signature.tensors.size(), kNowhere) {}

void Uses::read(const NodeView& node, const Modules& modules) {
  for (const json::element input : node.inputs)
    read_argument(member(as_object(input), "arg"), modules.module_of(node));
}

void Uses::read(uint32_t number, Modules::Index module) {
  if (by_number_.empty()) this->number();
  if (number < by_number_.size() && by_number_[number] != 0)
    read_parameter(by_number_[number] - 1, module);
}

void Uses::number() {
  by_number_.resize(std::max<size_t>(scope_.names(), 1));
  uint32_t last = 0;
  for (size_t i = 0; i < signature_.tensors.size(); ++i) {
    const auto number = scope_.find_next(signature_.tensors[i].argument, last);
    if (number != 0 && by_number_[number - 1] == 0)
      by_number_[number - 1] = static_cast<uint32_t>(i + 1);
  }
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
  if (!names_) {
    names_.emplace();
    for (uint32_t i = 0; i < signature_.tensors.size(); ++i)
      names_->insert(signature_.tensors[i].argument, i);
  }
  if (const auto* index = names_->find(name)) read_parameter(*index, module);
}

void Uses::read_parameter(uint32_t index, Modules::Index module) {
  if (last_[index] == module) return;
  last_[index] = module;
  all_.emplace_back(index, module);
}

void find_ties(Tensors& tensors, const Uses& uses, Notes& notes, std::deque<std::string>& keys) {
  Search search(tensors, keys);
  if (!search.has_candidates()) return;
  search.read_uses(uses);
  search.tie();
  search.report(notes);
}

}  // namespace pt2
