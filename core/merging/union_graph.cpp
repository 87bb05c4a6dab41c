#include "core/merging/union_graph.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tmeter/cpp/natural_order.hpp>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/ir/builder.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::kModel, text); }

void require_weights(const Part& part) {
  const auto& graph = *part.saved.graph;
  if (graph.nodes().empty() && graph.inputs().empty()) return;
  refuse(printable(part.path) +
         ": this is the report of a model with operators, not of a shard of a checkpoint; `tmeter "
         "merge --index` lists models");
}

std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

/// Why values of the two cannot share a column; empty if they can.
std::string difference(const Part& a, const Part& b) {
  const auto& theirs = b.saved.report.results;
  for (const auto& c : a.saved.report.results.columns) {
    const auto* other = theirs.find(c.id);
    if (!other) return "the metric " + quoted(c.id) + " is only in the first";
    if (other->convention != c.convention || other->plugin != c.plugin || other->axis != c.axis ||
        other->aggregation != c.aggregation)
      return "the metric " + quoted(c.id) + " is counted differently in the two";
  }
  for (const auto& c : theirs.columns)
    if (!a.saved.report.results.find(c.id))
      return "the metric " + quoted(c.id) + " is only in the second";
  const std::map<std::string, std::string> ours(a.saved.report.config.begin(),
                                                a.saved.report.config.end());
  const std::map<std::string, std::string> options(b.saved.report.config.begin(),
                                                   b.saved.report.config.end());
  for (const auto& [key, value] : ours) {
    const auto it = options.find(key);
    if (it != options.end() && it->second != value)
      return "the option " + quoted(key) + " is " + quoted(value) + " and " + quoted(it->second);
  }
  return {};
}

void require_all_shards(const std::vector<Part>& parts) {
  std::map<std::pair<std::string, size_t>, std::set<size_t>> found;  // (name, of) → numbers
  for (const auto& p : parts) {
    size_t number = 0, of = 0;
    const auto name = unnumbered(p.model_file(), number, of);
    if (name.empty()) return;  // names without numbers
    found[{name, of}].insert(number);
  }
  if (found.size() > 1)
    refuse("these are shards of different checkpoints: " + quoted(found.begin()->first.first) +
           " in " + std::to_string(found.begin()->first.second) + " files and " +
           quoted(found.rbegin()->first.first) + " in " +
           std::to_string(found.rbegin()->first.second) + "; `tmeter merge --index` lists models");
  const auto& [what, numbers] = *found.begin();
  if (numbers.size() >= what.second) return;
  std::vector<std::string> missing;
  for (size_t i = 1; i <= what.second && missing.size() < 5; ++i)
    if (!numbers.contains(i)) missing.push_back(std::to_string(i));
  const auto lacking = what.second - numbers.size();
  refuse("of the " + std::to_string(what.second) + " shards of " + quoted(what.first) + ", " +
         std::to_string(lacking) + (lacking == 1 ? " is" : " are") +
         " not among the reports: number " + joined(missing) +
         (lacking > missing.size() ? ", …" : "") + "; sums without them would be too small");
}

bool take_number(std::string_view& text, size_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string unnumbered(const std::string& file, size_t& number, size_t& of) {
  for (size_t dash = file.find('-'); dash != file.npos; dash = file.find('-', dash + 1)) {
    std::string_view rest = std::string_view(file).substr(dash + 1);
    if (!take_number(rest, number) || !rest.starts_with("-of-")) continue;
    rest.remove_prefix(4);
    if (!take_number(rest, of) || number < 1 || number > of) continue;
    return file.substr(0, dash) + std::string(rest);
  }
  return {};
}

void require_agreement(const std::vector<Part>& parts) {
  if (parts.empty()) throw Error(ErrorKind::kUsage, "there are no reports to merge");
  for (const auto& p : parts) require_weights(p);
  for (const auto& p : parts) {
    const auto why = difference(parts.front(), p);
    if (!why.empty())
      refuse(printable(parts.front().path) + " and " + printable(p.path) + " cannot be merged: " +
             why + "; analyse all shards with the same --plugins and options");
  }
  require_all_shards(parts);
}

namespace {

/// Creates modules when the first tensor inside needs them, as loaders of weights do. Modules
/// without tensors come from the first shard that has them.
class Tree {
 public:
  explicit Tree(GraphBuilder& builder) : builder_(builder) {}

  GraphBuilder::Id of(const Module& m) {
    const auto entry = made_.find(m.path);
    if (entry != made_.end()) return entry->second;
    const auto parent = m.parent ? of(*m.parent) : 0;
    return made_[m.path] = builder_.module(parent, m.name, m.type);
  }

 private:
  GraphBuilder& builder_;
  /// The shards' graphs hold the keys.
  std::unordered_map<std::string_view, GraphBuilder::Id, TextHash> made_;
};

const Tensor& at(const std::vector<Part>& parts, const Origin& o) {
  return parts[o.part].saved.graph->tensors()[o.tensor];
}

bool is_safetensors(const Part& part) {
  return part.saved.graph->property("format").starts_with("safetensors");
}

/// Safetensors: in natural order. Checkpoints of torch.save: shard by shard.
std::vector<Origin> in_order(const std::vector<Part>& parts) {
  std::vector<Origin> all;
  for (size_t p = 0; p < parts.size(); ++p)
    for (const auto& t : parts[p].saved.graph->tensors()) all.push_back({p, t.index});
  if (std::all_of(parts.begin(), parts.end(), is_safetensors)) {
    std::stable_sort(all.begin(), all.end(), [&](const Origin& a, const Origin& b) {
      return natural_less(at(parts, a).name, at(parts, b).name);
    });
  }
  return all;
}

void require_once(const std::vector<Part>& parts, const std::vector<Origin>& origins) {
  std::unordered_map<std::string_view, size_t, TextHash> seen;  // name → part
  for (const auto& o : origins) {
    const auto& t = at(parts, o);
    const auto [it, added] = seen.emplace(t.name, o.part);
    if (added) continue;
    throw Error(ErrorKind::kModel,
                "the tensor '" + printable(t.name) + "' is in " +
                    printable(parts[it->second].path) + " and in " + printable(parts[o.part].path) +
                    ": shards of one checkpoint have each tensor once; `tmeter merge --index` "
                    "lists reports of different models");
  }
}

void add_tensor(GraphBuilder& builder, const Tensor& t, GraphBuilder::Id owner) {
  TensorSpec spec;
  spec.kind = t.kind;
  spec.dtype = t.dtype;
  spec.name = t.name;
  spec.storage_key = t.canonical->name;  // tied tensors are in one shard
  spec.owner = owner;
  spec.dims = t.dims;
  spec.trainable = t.trainable;
  builder.tensor(spec);
}

/// The common value of all reports; empty if they differ.
std::string common_property(const std::vector<Part>& parts, std::string_view key) {
  std::string text(parts.front().saved.graph->property(key));
  for (const auto& p : parts)
    if (p.saved.graph->property(key) != text) return {};
  return text;
}

void set_properties(GraphBuilder& builder, const std::vector<Part>& parts) {
  auto format = common_property(parts, "format");
  if (format.empty()) format = "several formats";
  builder.property("format", format + " (" + std::to_string(parts.size()) + " files, merged)");
  builder.property("content", "weights");
  for (const char* key : {"producer", "part"})
    if (const auto text = common_property(parts, key); !text.empty()) builder.property(key, text);
}

std::vector<std::vector<size_t>> modules_of(const std::vector<Part>& parts, const Graph& whole) {
  std::unordered_map<std::string_view, size_t, TextHash> by_path;
  for (const auto* m : whole.modules()) by_path.emplace(m->path, m->index);
  std::vector<std::vector<size_t>> out(parts.size());
  for (size_t p = 0; p < parts.size(); ++p)
    for (const auto* m : parts[p].saved.graph->modules()) out[p].push_back(by_path.at(m->path));
  return out;
}

}  // namespace

UnionGraph unite(const std::vector<Part>& parts) {
  UnionGraph out;
  out.origins = in_order(parts);
  require_once(parts, out.origins);
  for (const auto& p : parts) out.tensors.emplace_back(p.saved.graph->tensors().size());
  GraphBuilder builder;
  set_properties(builder, parts);
  Tree tree(builder);
  tree.of(*parts.front().saved.graph->modules().front());  // the root
  for (size_t i = 0; i < out.origins.size(); ++i) {
    const auto& o = out.origins[i];
    out.tensors[o.part][o.tensor] = i;
    const auto& t = at(parts, o);
    add_tensor(builder, t, tree.of(*t.owner));
  }
  for (const auto& p : parts)
    for (const auto* m : p.saved.graph->modules()) tree.of(*m);
  out.graph = builder.finish();
  out.modules = modules_of(parts, *out.graph);
  return out;
}

}  // namespace tmeter::core
