#include "findings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "plugins/common/weight_macs.hpp"
#include "plugins/common/wording.hpp"

namespace pruning {
namespace {

struct Name {
  std::string_view ending;
  char part;
};
// transformers: Llama and similar models, OPT, BERT, ViT, DistilBERT.
constexpr std::array<Name, 15> kNames{{
    {"q_proj.weight", 'q'},
    {"k_proj.weight", 'k'},
    {"v_proj.weight", 'v'},
    {"o_proj.weight", 'o'},
    {"out_proj.weight", 'o'},
    {"self.query.weight", 'q'},
    {"self.key.weight", 'k'},
    {"self.value.weight", 'v'},
    {"output.dense.weight", 'o'},
    {"attention.query.weight", 'q'},
    {"q_lin.weight", 'q'},
    {"k_lin.weight", 'k'},
    {"v_lin.weight", 'v'},
    {"out_lin.weight", 'o'},
    {"wq.weight", 'q'},
}};

const Name* name_of(std::string_view tensor) {
  for (const auto& n : kNames)
    if (tensor.ends_with(n.ending) &&
        (tensor.size() == n.ending.size() || tensor[tensor.size() - n.ending.size() - 1] == '.'))
      return &n;
  return nullptr;
}

}  // namespace

bool is_projection(std::string_view name) { return name_of(name) != nullptr; }

std::string attention_of(std::string_view name, char& part) {
  const auto* n = name_of(name);
  if (!n) return {};
  part = n->part;
  return std::string(name.substr(0, name.size() - n->ending.size()));
}

std::vector<double> head_norms(const std::vector<double>& query_filters,
                               const std::vector<double>& output_inputs, int64_t head_size) {
  const auto n = static_cast<int64_t>(query_filters.size());
  if (head_size < 1 || n == 0 || n % head_size != 0 || output_inputs.size() != query_filters.size())
    return {};
  std::vector<double> out(static_cast<size_t>(n / head_size));
  for (size_t i = 0; i < query_filters.size(); ++i)
    out[i / static_cast<size_t>(head_size)] +=
        query_filters[i] * query_filters[i] + output_inputs[i] * output_inputs[i];
  for (auto& v : out) v = std::sqrt(v);
  return out;
}

namespace {

using plugins::count_of;
using plugins::listed;
using plugins::percent;
using tmeter::Call;
using tmeter::Finding;
using SelectedWeights = std::vector<const Weight*>;

constexpr size_t kNamesListed = 5;

template <class F>
SelectedWeights pick(const Collection& collection, F f) {
  SelectedWeights out;
  for (const auto& w : collection.weights)
    if (f(w)) out.push_back(&w);
  return out;
}

std::string names(const SelectedWeights& picked, Finding& finding) {
  for (const auto* w : picked) finding.about(w->tensor);
  return listed(picked.size(), kNamesListed, [&](size_t i) { return picked[i]->name; });
}

/// Bytes and MACs of the model, from which an advice subtracts.
struct Totals {
  double bytes = 0, macs = 0;
  std::vector<double> by_tensor;  // MACs; empty without operators

  double macs_of(const Weight& w) const {
    return by_tensor.empty() ? 0 : by_tensor[w.tensor.index()];
  }
  void add_changes(Finding& f, double fewer_bytes, double fewer_macs) const {
    if (fewer_bytes > 0) f.changes.push_back({"param_bytes", bytes, bytes - fewer_bytes});
    if (fewer_macs > 0) f.changes.push_back({"macs", macs, macs - fewer_macs});
  }
};

Totals totals_of(const tmeter::Graph& graph, const Call& call) {
  Totals t;
  for (const auto& tensor : graph.tensors())
    if (tensor.is_parameter() && !tensor.is_tied())
      t.bytes += static_cast<double>(tensor.bytes().value());
  t.by_tensor = plugins::weight_macs(graph, call);
  if (!t.by_tensor.empty()) t.macs = call.read("macs", TMETER_AXIS_MODEL, 0).real();
  return t;
}

void report_magnitudes(const Collection& collection, const Curve& all, const Settings& settings,
                       Call& call) {
  const auto [share, loss, threshold] = collection.all.within(settings.max_loss);
  auto ranked = pick(collection, [](const Weight& w) { return w.finite && w.power > 0; });
  if (ranked.empty()) return;
  const auto below = [limit = threshold](const Weight* w) { return share_below(w->curve, limit); };
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](const Weight* a, const Weight* b) { return below(a) > below(b); });
  Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "prunable-weights";
  f.text = "the smallest " + percent(share) + " of the weights hold " + percent(settings.max_loss) +
           " of the L2 norm: setting them to zero loses no more";
  f.evidence = "ranked over all weights: 50 % at a loss of " + percent(loss_at(all, 0.5)) +
               ", 90 % at " + percent(loss_at(all, 0.9)) + "; most in " +
               listed(std::min<size_t>(ranked.size(), 3), 3, [&](size_t i) {
                 return ranked[i]->name + " (" + percent(below(ranked[i])) + ")";
               });
  const auto* least = ranked.back();
  if (ranked.size() > 3)
    f.evidence += "; least in " + least->name + " (" + percent(below(least)) + ")";
  f.action =
      "torch.nn.utils.prune.global_unstructured([(module, \"weight\"), …], "
      "pruning_method=prune.L1Unstructured, amount=" +
      tmeter::fixed(share, 2) +
      "), fine-tune, prune.remove; zeros save neither time nor bytes until they are stored sparse "
      "or compressed";
  call.add(f);
}

void report_dead(const Collection& collection, const Totals& totals, Call& call) {
  const auto found = pick(collection, [](const Weight& w) {
    return !w.dead.empty() && static_cast<int64_t>(w.dead.size()) < w.filters();
  });
  if (found.empty()) return;
  Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "dead-filters";
  size_t filters = 0;
  double bytes = 0, macs = 0;
  for (const auto* w : found) {
    const double part = static_cast<double>(w->dead.size()) / static_cast<double>(w->filters());
    filters += w->dead.size();
    bytes += part * static_cast<double>(w->tensor.bytes().value());
    macs += part * totals.macs_of(*w);
  }
  f.text = count_of(filters, "filter") + " in " + names(found, f) +
           (filters == 1 ? " is" : " are") + " zero or nearly so";
  f.evidence = listed(found.size(), kNamesListed, [&](size_t i) {
    const auto& w = *found[i];
    return w.name + ": " +
           listed(w.dead.size(), 8, [&](size_t k) { return std::to_string(w.dead[k]); }) + " of " +
           std::to_string(w.filters());
  });
  f.evidence += "; their L2 norm is 0, or below a millionth of the median filter's";
  f.action =
      "build the layer with fewer outputs, and the layers that read it with fewer inputs (a "
      "remaining bias is a constant: add it to the next layer's); their savings are not counted "
      "here";
  totals.add_changes(f, bytes, macs);
  call.add(f);
}

void report_low(const Collection& collection, Call& call) {
  auto found = pick(collection, [](const Weight& w) { return w.finite && w.low >= 0.05; });
  if (found.empty()) return;
  std::stable_sort(found.begin(), found.end(),
                   [](const Weight* a, const Weight* b) { return a->low > b->low; });
  Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "weak-filters";
  f.text = count_of(found.size(), "weight") + (found.size() == 1 ? " has " : " have ") +
           "weak filters: " + names(found, f);
  f.evidence = listed(found.size(), kNamesListed,
                      [&](size_t i) { return found[i]->name + " " + percent(found[i]->low); });
  f.evidence += " of the filters have less than a tenth of the median norm";
  f.action =
      "torch.nn.utils.prune.ln_structured(module, \"weight\", amount=…, n=2, dim=0), fine-tune, "
      "then build the layers smaller";
  call.add(f);
}

/// 2:4 sparsity stores two of four elements and two bits for the position of each (PyTorch,
/// semi-structured sparsity): a matrix takes (2 · bits + 4) / (4 · bits) of its bytes.
double bytes_saved_by_2_4(const Weight& w) {
  const auto bytes = static_cast<double>(w.tensor.bytes().value());
  const double bits = 8.0 * bytes / static_cast<double>(w.tensor.numel().value());
  return bytes * (1 - (2 * bits + 4) / (4 * bits));
}

/// Shapes that torch.sparse.to_sparse_semi_structured takes in float16 and bfloat16 with
/// cuSPARSELt: multiples of 16 (torch 2.15, sparse/semi_structured.py, _DTYPE_SHAPE_CONSTRAINTS).
bool has_sparse_kernels(const Weight& w) {
  return !w.table && w.shape.dims.size() == 2 && w.shape.rows % 16 == 0 &&
         w.shape.columns % 16 == 0;
}

void report_2_4_sparsity(const Collection& collection, const Totals& totals, Call& call) {
  auto found =
      pick(collection, [](const Weight& w) { return w.kept_2_4 && has_sparse_kernels(w); });
  if (found.empty()) return;
  std::stable_sort(found.begin(), found.end(),
                   [](const Weight* a, const Weight* b) { return *a->kept_2_4 > *b->kept_2_4; });
  Finding f;
  f.rule = "two-of-four";
  double power = 0, kept = 0, half = 0, bytes = 0, macs = 0;
  for (const auto* w : found) {
    power += w->power;
    kept += w->power * *w->kept_2_4;
    half += w->power * w->unstructured_50();
    bytes += bytes_saved_by_2_4(*w);
    macs += totals.macs_of(*w) / 2;
    f.about(w->tensor);
  }
  const auto each = [](const Weight& w) { return w.name + " " + percent(*w.kept_2_4); };
  f.text = "2:4 sparsity keeps " + percent(kept / power) + " of Σx² in " +
           count_of(found.size(), "matrix weight") + "; the larger half of each keeps " +
           percent(half / power);
  f.evidence = "best suited: " + listed(std::min<size_t>(found.size(), 3), 3,
                                        [&](size_t i) { return each(*found[i]); });
  if (found.size() > 3) f.evidence += "; worst: " + each(*found.back());
  f.action =
      "mask with torch.ao.pruning.WeightNormSparsifier(sparsity_level=1.0, sparse_block_shape=(1, "
      "4), zeros_per_block=2), fine-tune, then torch.sparse.to_sparse_semi_structured(weight): "
      "NVIDIA GPUs from Ampere on, float16, bfloat16 or int8";
  totals.add_changes(f, bytes, macs);
  call.add(f);
}

void report_broken(const Collection& collection, Call& call) {
  const auto broken = pick(collection, [](const Weight& w) { return !w.finite; });
  if (broken.empty()) return;
  Finding f;
  f.severity = TMETER_SEVERITY_ERROR;
  f.rule = "not-finite";
  f.text = count_of(broken.size(), "weight") + (broken.size() == 1 ? " holds" : " hold") +
           " NaN, infinity or values beyond float32: " + names(broken, f);
  f.evidence = "they are left out of the pruning advice";
  f.action =
      "go back to a checkpoint from before training diverged; torch.isfinite finds the elements";
  call.add(f);
}

void add_curve(const Curve& all, Call& call) {
  tmeter::Series s;
  s.id = "pruning";
  s.title = "loss by pruned share, ranked over all weights";
  s.x_title = "pruned share";
  s.y_title = "loss of L2 norm";
  for (const auto& p : all) s.x.push_back(p.share), s.y.push_back(p.loss);
  call.add(s);
}

}  // namespace

void report_findings(const Collection& collection, const Settings& settings,
                     const tmeter::Graph& graph, Call& call) {
  report_broken(collection, call);
  if (collection.all.count() > 0 && collection.all.power() > 0) {
    const auto all = collection.all.curve();
    add_curve(all, call);
    report_magnitudes(collection, all, settings, call);
  }
  const auto totals = totals_of(graph, call);
  report_dead(collection, totals, call);
  report_low(collection, call);
  report_heads(collection, settings.head_size, call);
  report_2_4_sparsity(collection, totals, call);
}

namespace {

constexpr double kWeakShare = 0.5;  // share of the norm of the layer's median head

struct Attention {
  const Weight *query = nullptr, *output = nullptr;
};

std::optional<int64_t> attribute(const tmeter::Module& m, std::string_view name) {
  for (size_t i = 0; i < m.attribute_count(); ++i)
    if (m.attribute_name(i) == name && m.attribute(i).kind() == TMETER_VALUE_INT)
      return m.attribute(i).as_int();
  return std::nullopt;
}

/// The head size by an attribute of the enclosing module, or by the norm of its queries.
int64_t head_size_of(const Weight& query) {
  const auto projection = query.tensor.owner();
  const auto around = projection ? projection.parent() : tmeter::Module();
  if (!around) return 0;
  if (const auto size = attribute(around, "head_dim")) return *size;
  for (const auto* name : {"num_heads", "num_attention_heads", "n_heads"})
    if (const auto heads = attribute(around, name); heads && *heads > 0)
      return query.filters() / *heads;
  for (size_t i = 0; i < around.child_count(); ++i) {
    const auto child = around.child(i);
    if (child.name() == "q_norm" && child.tensor_count() > 0) return child.tensor(0).shape().back();
  }
  return 0;
}

}  // namespace

void report_heads(const Collection& collection, int64_t given, tmeter::Call& call) {
  std::map<std::string, Attention> layers;
  for (const auto& w : collection.weights) {
    char part = 0;
    const auto layer = attention_of(w.name, part);
    if (part == 'q') layers[layer].query = &w;
    if (part == 'o') layers[layer].output = &w;
  }
  tmeter::Finding f;
  std::vector<std::string> weak;
  size_t heads = 0;
  for (const auto& [name, layer] : layers) {
    if (!layer.query || !layer.output) continue;
    const auto size = given ? given : head_size_of(*layer.query);
    const auto norms = head_norms(layer.query->filter_norms, layer.output->input_norms, size);
    if (norms.size() < 2) continue;
    heads += norms.size();
    auto sorted = norms;
    std::sort(sorted.begin(), sorted.end());
    const double median = sorted[sorted.size() / 2];
    for (size_t h = 0; h < norms.size(); ++h) {
      if (!(norms[h] < kWeakShare * median)) continue;
      weak.push_back(name + " head " + std::to_string(h) + " (" + percent(norms[h] / median) + ")");
      f.about(layer.output->tensor);
    }
  }
  if (weak.empty()) return;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "weak-heads";
  f.text = std::to_string(weak.size()) + " of " + count_of(heads, "attention head") +
           " have less than half the norm of their layer's median head";
  f.evidence = listed(weak.size(), 8, [&](size_t i) { return weak[i]; }) +
               ": L2 norm of query rows and output columns";
  f.action =
      "mask them one by one and measure (head_mask, or zero the columns of the output projection), "
      "then build the layer with fewer heads";
  call.add(f);
}

}  // namespace pruning
