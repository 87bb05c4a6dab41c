#include "apps/tmeter/weight_errors.hpp"

#include <tmeter/abi/draft/comparison.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tmeter/cpp/numbers.hpp>

#include "core/analysis/weight_changes.hpp"
#include "core/base/error.hpp"
#include "core/plugin_host/decoders.hpp"
#include "core/plugin_host/model_loading.hpp"

namespace tmeter::app {
namespace {
using namespace core;

constexpr std::string_view kMetric = "sqnr";
constexpr int64_t kElements = int64_t{1} << 16;  // elements read at a time

/// A model whose weights can be read.
class Weights {
 public:
  Weights(Session& session, const std::string& path)
      : source_(path),
        request_{&source_, session.line().trusted, {}},
        model_(load_model(session.registry(), request_, {&session.log(), nullptr, nullptr})),
        decoders_(session.registry(), *model_.graph, session.log()),
        bytes_(source_.file, &decoders_) {}

  const Graph& graph() const { return *model_.graph; }
  bool available(const Tensor& t) const {
    const bool decodable = t.encoding || tmeter::decodable(tmeter::DType(t.dtype));
    return decodable && bytes_.unavailable(t).empty();
  }
  /// Elements [first, first + count).
  void read(const Tensor& t, int64_t first, int64_t count, std::vector<double>& out) {
    const auto view = bytes_.view(t, first, count, buffer_);
    out.resize(static_cast<size_t>(count));
    tmeter::decode<double>(tmeter::DType(t.dtype),
                           {reinterpret_cast<const uint8_t*>(view.data()), view.size()}, out);
  }
  void release(const Tensor& t, int64_t first, int64_t count) const {
    bytes_.release(t, first, count);
  }

 private:
  tmeter_source source_;
  tmeter_request request_;
  LoadedModel model_;
  Decoders decoders_;
  TensorBytes bytes_;
  ElementBuffer buffer_;
};

struct Sums {
  double power = 0, error = 0;
  bool complete = true;

  void add(const Sums& o) {
    power += o.power, error += o.error;
    complete = complete && o.complete;
  }
  tmeter_number sqnr() const {
    if (!complete || !std::isfinite(power) || !std::isfinite(error))
      return number_of_kind(TMETER_NUMBER_UNAVAILABLE);
    if (power == 0 || error == 0) return {};  // no signal, or no error
    return number(10 * std::log10(power / error));
  }
};

class Errors {
 public:
  Errors(Weights& before, Weights& after) : before_(before), after_(after) {}

  /// Compares `a` with the elements of `b` from `first` on.
  Sums sums_of_piece(const Tensor& a, const Tensor& b, int64_t first) {
    if (!before_.available(a) || !after_.available(b)) return {0, 0, false};
    return sums(a, b, {}, {}, first);
  }
  Sums of(const Tensor& a, const Tensor& b) {
    if (!before_.available(a) || !after_.available(b)) return {0, 0, false};
    // A GGUF file may store rows in another order.
    const auto order_a = row_order(before_.graph(), a), order_b = row_order(after_.graph(), b);
    const Sums same = sums(a, b, {}, {});
    if (!order_a == !order_b) return same;
    const Sums permuted = sums(a, b, order_a.value_or(RowOrder{}), order_b.value_or(RowOrder{}));
    return permuted.error < same.error ? permuted : same;
  }

 private:
  Sums sums(const Tensor& a, const Tensor& b, RowOrder order_a, RowOrder order_b,
            int64_t first = 0) {
    const bool by_rows = order_a.head > 0 || order_b.head > 0;
    const int64_t row = a.dims.empty() || a.dims[0] == 0 ? 1 : a.numel / a.dims[0];
    const int64_t step = by_rows ? row : kElements;
    Sums out;
    for (int64_t at = 0; at < a.numel && step > 0; at += step) {
      const int64_t count = std::min(step, a.numel - at);
      before_.read(a, order_a.of(at / row) * row + at % row * !by_rows, count, x_);
      after_.read(b, by_rows ? order_b.of(at / row) * row : first + at, count, y_);
      for (size_t i = 0; i < x_.size(); ++i) {
        const double d = x_[i] - y_[i];
        out.power += x_[i] * x_[i];
        out.error += d * d;
      }
      if (!by_rows) before_.release(a, at, count), after_.release(b, first + at, count);
    }
    return out;
  }

  Weights &before_, &after_;
  std::vector<double> x_, y_;
};

/// "weight" for "blk.0.attn_q.weight".
std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

const Tensor* partner(const Module& module, const Tensor& t) {
  const auto it = std::find_if(module.tensors.begin(), module.tensors.end(), [&](const Tensor* o) {
    return last_part(o->name) == last_part(t.name) &&
           std::equal(o->dims.begin(), o->dims.end(), t.dims.begin(), t.dims.end());
  });
  return it == module.tensors.end() ? nullptr : *it;
}

/// Modules of BEFORE by path.
using Paths = std::map<std::string_view, const Module*>;

/// Ends of paths of modules that join others → the joined modules of BEFORE, in their
/// order.
struct Joined {
  std::string_view end;
  std::vector<std::string_view> parts;
};
const Joined kJoined[] = {{"qkv_proj", {"q_proj", "k_proj", "v_proj"}},
                          {"gate_up_proj", {"gate_proj", "up_proj"}},
                          {"query_key_value", {"query", "key", "value"}}};
/// Names of experts in one tensor and of separate experts; Mixtral's differ.
struct Expert {
  std::string_view stacked, single, mixtral;
};
constexpr Expert kExperts[] = {{"experts.gate_proj", "gate_proj", "w1"},
                               {"experts.up_proj", "up_proj", "w3"},
                               {"experts.down_proj", "down_proj", "w2"}};

/// The tensors of BEFORE that concatenate to `t`, a tensor of AFTER; empty if they do not match it.
std::vector<const Tensor*> pieces(const Paths& before, const Tensor& t) {
  std::vector<const Tensor*> out;
  const std::string path(t.owner->path);
  const auto add = [&](const std::string& piece) {
    const auto module = before.find(piece);
    if (module == before.end()) return;
    for (const auto* p : module->second->tensors)
      if (last_part(p->name) == last_part(t.name)) out.push_back(p);
  };
  for (const auto& j : kJoined)
    if (path.ends_with(j.end))
      for (const auto part : j.parts)
        add(path.substr(0, path.size() - j.end.size()) + std::string(part));
  for (const auto& e : kExperts) {
    if (!path.ends_with(e.stacked) || t.dims.size() != 3) continue;
    const auto begin = path.substr(0, path.size() - e.stacked.size());
    for (int64_t i = 0; i < t.dims[0] && static_cast<int64_t>(out.size()) == i; ++i) {
      const auto number = std::to_string(i);
      add(begin + "experts." + number + "." + std::string(e.single));
      if (static_cast<int64_t>(out.size()) == i && begin.ends_with("mlp."))
        add(begin.substr(0, begin.size() - 4) + "block_sparse_moe.experts." + number + "." +
            std::string(e.mixtral));
    }
  }
  int64_t numel = 0;
  for (const auto* p : out) numel += p->numel;
  return numel == t.numel ? out : std::vector<const Tensor*>();
}

Column column() {
  Column c;
  c.id = kMetric;
  c.title = "SQNR";
  c.unit = "dB";
  c.unit_kind = TMETER_UNIT_OTHER;
  c.axis = TMETER_AXIS_TENSOR;
  c.aggregation = TMETER_AGGREGATE_NONE;
  c.better = TMETER_BETTER_HIGHER;
  c.flags = TMETER_METRIC_TENSORS;
  c.convention =
      "10 log10(Σ before² / Σ (before − after)²) of the elements of both files; empty where they "
      "are equal";
  c.plugin = "tmeter";
  return c;
}

Cells& cells(Column& c, int32_t axis) { return c.cells[static_cast<size_t>(axis)]; }

}  // namespace

bool requests_weight_errors(const CommandLine& line) {
  const auto names = [](std::string_view text) { return text.find(kMetric) != text.npos; };
  const auto columns = line.view.find("columns");
  return (columns != line.view.end() && names(columns->second)) ||
         std::any_of(line.assertions.begin(), line.assertions.end(), names);
}

void add_weight_errors(Session& session, Report& before, Report& after) {
  Weights a(session, session.line().other), b(session, session.line().model);
  if (a.graph().modules().size() != before.graph->modules().size() ||
      b.graph().modules().size() != after.graph->modules().size())
    throw Error(ErrorKind::kModel, "a model changed while it was compared");
  Errors errors(a, b);
  const auto& modules = b.graph().modules();
  std::vector<std::optional<Sums>> of_modules(modules.size());
  auto found = column();
  cells(found, TMETER_AXIS_TENSOR).resize(b.graph().tensors().size());
  cells(found, TMETER_AXIS_MODULE).resize(modules.size());
  cells(found, TMETER_AXIS_MODEL).resize(1);
  Paths paths;
  for (const auto* m : a.graph().modules()) paths.emplace(m->path, m);
  for (const auto& pair : after.comparison.pairs) {
    if (pair.after == SIZE_MAX) continue;
    for (const auto* t : modules[pair.after]->tensors) {
      if (t->canonical != t) continue;
      const auto* other =
          pair.before == SIZE_MAX ? nullptr : partner(*a.graph().modules()[pair.before], *t);
      const auto joined = other ? std::vector<const Tensor*>() : pieces(paths, *t);
      if (!other && joined.empty()) continue;
      Sums sums;
      if (other) sums = errors.of(*other, *t);
      int64_t first = 0;
      for (const auto* piece : joined) {
        sums.add(errors.sums_of_piece(*piece, *t, first));
        first += piece->numel;
      }
      cells(found, TMETER_AXIS_TENSOR).set(t->index, sums.sqnr());
      for (const auto* m = modules[pair.after]; m; m = m->parent) {
        auto& all = of_modules[m->index];
        if (!all) all.emplace();
        all->add(sums);
      }
    }
  }
  for (size_t i = 0; i < modules.size(); ++i)
    if (of_modules[i]) cells(found, TMETER_AXIS_MODULE).set(i, of_modules[i]->sqnr());
  for (auto& pair : after.comparison.pairs)
    if (pair.before != SIZE_MAX && pair.after != SIZE_MAX && of_modules[pair.after] &&
        of_modules[pair.after]->error > 0)
      pair.flags |= TMETER_PAIR_FIGURES;
  if (of_modules[0]) cells(found, TMETER_AXIS_MODEL).set(0, of_modules[0]->sqnr());
  after.results.columns.push_back(std::move(found));
  before.results.columns.push_back(column());
}

}  // namespace tmeter::app
