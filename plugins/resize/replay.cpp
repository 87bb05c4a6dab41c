#include "replay.hpp"

#include <algorithm>

#include "operators/messages.hpp"
#include "operators/size_arithmetic.hpp"
#include "samples.hpp"

namespace tmeter::resize {
namespace {

constexpr size_t kMaxBacktracks = 2000;
constexpr size_t kMaxAncestors = 48;  // the latest are kept: a wrong reading fails soon

void keep_latest(std::set<size_t>& nodes) {
  while (nodes.size() > kMaxAncestors) nodes.erase(nodes.begin());
}

/// Calls `f(node index)` for each node that produced the argument or an item of it.
template <class F>
void for_each_producer(const Value& value, const F& f) {
  if (const auto producer = value.producer()) f(producer.index());
  for (size_t i = 0; i < value.size(); ++i) for_each_producer(value[i], f);
}

/// The author may have written reshape where the export has view: it is possible only for a batch
/// of one.
std::string_view executed_as(const Node& node, bool has_sizes) {
  const bool view = node.op() == "aten::view" || node.op() == "aten::_unsafe_view";
  return view && has_sizes ? "aten::reshape" : node.op();
}

}  // namespace

void Replay::set_inputs(const std::vector<Sizes>& inputs) {
  std::vector<DimsChange> all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto value = graph_.inputs()[i];
    if (!value.is_tensor()) continue;
    const DimsChange change{dims_in(base_, value), inputs[i]};
    all.push_back(change);
    for (size_t d = 0; d < change.now.size(); ++d) {
      if (change.recorded[d] != change.now[d]) changes_.emplace(change.recorded[d], change.now[d]);
    }
    const auto dtype = static_cast<at::ScalarType>(value.dtype().id());
    now_.set(value, at::empty(inputs[i], at::dtype(dtype).device(at::kMeta)));
  }
  known_changes_ = changes_;
  for (const auto& change : all) known_shapes_.emplace(change.recorded, change.now);
  samples_ = change_of_samples(all);
}

bool Replay::run(const std::vector<Sizes>& inputs) {
  set_inputs(inputs);
  const size_t count = graph_.nodes().size();
  for (size_t i = 0; i < count;) {
    if (step(i)) {
      ++i;
      continue;
    }
    const auto again = backtrack(i);
    if (!again) return false;
    i = *again;
  }
  for (const auto& [i, choice] : choices_) {
    const bool sure = choice.argument.sure && choice.at == 0;
    if (!samples_ && choice.argument.requires_certainty && !sure && ambiguous_operator_.empty())
      ambiguous_operator_ = full_name(graph_.nodes()[i]);
  }
  return true;
}

bool Replay::step(size_t i) {
  const auto node = graph_.nodes()[i];
  limits_.count_operator();
  args_.clear();
  arg_names_.clear();
  try {
    auto choice = choices_.find(i);
    if (choice == choices_.end()) {
      sizes_.erase(i);
      ancestors_[i] = ancestors_of(node);
      if (auto sizes =
              size_argument(node, rules_.size_arguments(node),
                            {base_, now_, changes_, known_changes_, known_shapes_, samples_})) {
        if (sizes->versions.size() > 1) {
          choice = choices_.emplace(i, Choice{*sizes, 0, {}}).first;
          ancestors_[i].insert(i);
        }
        sizes_[i] = std::move(*sizes);
      }
    }
    const auto sizes = sizes_.find(i);
    execute(node, sizes == sizes_.end() ? nullptr : &sizes->second,
            choice == choices_.end() ? 0 : choice->second.at);
    if (ancestors_[i].empty())
      record_size_changes(node);
    else if (samples_)
      check_samples(node);
    return true;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    fail(node, short_reason(e));
    return false;
  }
}

/// Collects size changes that follow from the inputs through operators only: 224 → 256 gives 112 →
/// 128.
void Replay::record_size_changes(const Node& node) {
  for (size_t i = 0; i < node.result_count(); ++i) {
    for_each_tensor_value(node.result(i), [&](const Value& v) {
      const auto* now = now_.find(v);
      if (!now || !now->isTensor()) return;
      const auto before = dims_in(base_, v);
      const auto after = now->toTensor().sizes();
      known_shapes_.emplace(before, after.vec());
      for (size_t d = 0; d < before.size() && before.size() == after.size(); ++d) {
        if (before[d] != after[d]) known_changes_.emplace(before[d], after[d]);
      }
    });
  }
}

void Replay::check_samples(const Node& node) const {
  check_samples_stay_apart(node, base_, now_);
  const auto depends_on_choice = [&](const Value& v) {
    const auto producer = v.producer();
    return producer && !ancestors_[producer.index()].empty();
  };
  check_equal_samples(node, base_, now_, depends_on_choice);
}

void Replay::execute(const Node& node, const SizeArgument* sizes, size_t version) {
  if (is_assertion(node.op())) return;
  if (const auto number = size_arithmetic(node, now_)) {
    if (node.result_count() == 1) bind(node.result(0), *number);
    return;
  }
  try {
    execute_operator(node, sizes, version);
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    if (!keep_recorded(node)) throw;
  }
}

void Replay::execute_operator(const Node& node, const SizeArgument* sizes, size_t version) {
  const auto op = c10::Dispatcher::singleton().findSchema(
      {std::string(executed_as(node, sizes != nullptr)), std::string(node.overload())});
  const auto literals =
      sizes ? literals_of(node, *sizes, sizes->versions[version]) : std::vector<Literal>();
  if (!op) return execute_by_rule(node, literals);
  const auto& info = evaluator_.info(*op);
  for (const auto& a : info.args) arg_names_.push_back(a.name);
  const auto& schema = op->schema();
  const bool renamed = executed_as(node, sizes != nullptr) != node.op();
  if (renamed) {
    args_ = {now_.tensor(node.arg("self")), c10::IValue(sizes->versions[version])};
  } else {
    args_ = arguments_of(node, schema, now_);
  }
  for (const auto& literal : literals) {
    if (!renamed) set_argument(node, literal);
  }
  repad(node);
  auto stack = args_;
  evaluator_.execute(*op, stack);
  bind_results(node, stack);
}

void Replay::execute_by_rule(const Node& node, const std::vector<Literal>& sizes) {
  const auto* rule = rules_.find(node);
  if (!rule) {
    throw std::runtime_error(
        "LibTorch does not have this operator and no plugin has a shape rule for it, so its "
        "results for other sizes are unknown (docs/in-house-layers.md; `tmeter plugin new NAME "
        "--kind shape` writes a plugin with a shape rule)");
  }
  for (const auto& a : rule->schema.arguments()) arg_names_.push_back(a.name());
  args_ = arguments_of(node, rule->schema, now_);
  for (const auto& literal : sizes) set_argument(node, literal);
  bind_results(node, rules_.results(node, *rule, args_));
}

void Replay::bind_results(const Node& node, const torch::jit::Stack& results) {
  for (size_t i = 0; i < node.result_count() && i < results.size(); ++i)
    bind(node.result(i), results[i]);
}

void Replay::set_argument(const Node& node, const Literal& literal) {
  const bool list = node.arg(literal.argument).is_list();
  for (size_t i = 0; i < arg_names_.size() && i < args_.size(); ++i) {
    if (arg_names_[i] != literal.argument) continue;
    args_[i] = list ? c10::IValue(literal.sizes) : c10::IValue(literal.sizes[0]);
  }
}

/// Applies padding that follows the operand's size (same_padding.hpp).
void Replay::repad(const Node& node) {
  repaddings_.erase(node.index());
  const auto padded = padding_.padded_at(node);
  if (!padded) return;
  const auto operand = now_.tensor(*padded);
  const auto again = padding_.repadded(node, operand.sizes().vec());
  if (!again) return;
  if (again->literal) set_argument(node, *again->literal);
  if (!again->inserted.empty()) args_[0] = at::constant_pad_nd(operand, again->inserted);
  repaddings_[node.index()] = *again;
}

void Replay::bind(const Value& value, const c10::IValue& now) {
  if (value.is_list() && now.isList()) {
    const auto items = now.toList();
    if (items.size() != value.size()) {
      throw std::runtime_error("gives " + std::to_string(items.size()) +
                               " tensors where the file has " + std::to_string(value.size()));
    }
    for (size_t i = 0; i < value.size(); ++i) bind(value[i], items.get(i));
  } else if (!value.is_none() && !now.isNone()) {
    now_.set(value, now);
  }
}

/// An unknown operator keeps its recorded results if its arguments have their recorded sizes.
bool Replay::keep_recorded(const Node& node) {
  if (!same_inputs(node)) return false;
  for (size_t i = 0; i < node.result_count(); ++i) {
    for_each_tensor_value(node.result(i), [&](const Value& v) {
      const auto dtype = static_cast<at::ScalarType>(v.dtype().id());
      now_.set(v, at::empty(dims_in(base_, v), at::dtype(dtype).device(at::kMeta)));
    });
  }
  return true;
}

bool Replay::same_inputs(const Node& node) const {
  bool same = true;
  for (size_t i = 0; i < node.arg_count(); ++i) {
    for_each_tensor_value(node.arg(i), [&](const Value& v) {
      const auto* now = now_.find(v);
      same = same && (!now || !now->isTensor() || now->toTensor().sizes() == dims_in(base_, v));
    });
  }
  return same;
}

Replay::Nodes Replay::ancestors_of(const Node& node) const {
  Nodes out;
  for (size_t i = 0; i < node.arg_count(); ++i) {
    for_each_producer(node.arg(i), [&](size_t made_by) {
      out.insert(ancestors_[made_by].begin(), ancestors_[made_by].end());
    });
  }
  keep_latest(out);
  return out;
}

/// Changes the latest reading that the failed node depends on and returns its node, where the
/// replay must continue. Empty if all readings are exhausted.
std::optional<size_t> Replay::backtrack(size_t i) {
  Nodes blamed = ancestors_[i];
  if (++backtracks_ > kMaxBacktracks) return std::nullopt;
  while (!blamed.empty()) {
    const size_t latest = *blamed.rbegin();
    const auto it = choices_.find(latest);
    blamed.erase(latest);
    if (it == choices_.end()) continue;
    auto& choice = it->second;
    choice.blamed.insert(blamed.begin(), blamed.end());
    keep_latest(choice.blamed);
    if (choice.at + 1 < choice.argument.versions.size()) {
      ++choice.at;
      choices_.erase(std::next(it), choices_.end());
      return latest;
    }
    blamed = choice.blamed;
    blamed.insert(ancestors_[latest].begin(), ancestors_[latest].end());
    blamed.erase(latest);
    choices_.erase(it, choices_.end());
  }
  return std::nullopt;
}

void Replay::fail(const Node& node, std::string reason) {
  if (node.index() < furthest_node_ || (node.index() == furthest_node_ && !failure_.op.empty()))
    return;
  furthest_node_ = node.index();
  failure_ = {};
  failure_.module = std::string(node.call().module().path());
  failure_.op = std::string(node.op());
  failure_.args = args_;
  failure_.arg_names = arg_names_;
  failure_.reason = std::move(reason);
}

ReplayedSizes Replay::result() const {
  ReplayedSizes out;
  for (const auto& node : graph_.nodes()) {
    for (size_t i = 0; i < node.result_count(); ++i) {
      const auto result = node.result(i);
      for_each_tensor_value(result, [&](const Value& v) {
        if (const auto* now = now_.find(v); now && now->isTensor())
          out.dims[v.handle()] = now->toTensor().sizes().vec();
      });
      if (const auto* now = now_.find(result); now && !now->isTensor() && !now->isList())
        out.numbers[result.handle()] = *now;
    }
  }
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    if (const auto* now = now_.find(graph_.inputs()[i]); now && now->isTensor())
      out.dims[graph_.inputs()[i].handle()] = now->toTensor().sizes().vec();
  }
  for (const auto& [i, sizes] : sizes_) {
    if (is_replaced(i, sizes))
      out.literals[i] = literals_of(graph_.nodes()[i], sizes, chosen(i, sizes));
  }
  for (const auto& [i, again] : repaddings_) {
    if (again.literal) out.literals[i] = {*again.literal};
    if (!again.inserted.empty()) out.pads[i] = again.inserted;
  }
  return out;
}

const Sizes& Replay::chosen(size_t i, const SizeArgument& sizes) const {
  const auto choice = choices_.find(i);
  return sizes.versions[choice == choices_.end() ? 0 : choice->second.at];
}

bool Replay::is_replaced(size_t i, const SizeArgument& sizes) const {
  return chosen(i, sizes) != written_sizes(graph_.nodes()[i], sizes.names, {}, now_);
}

bool Replay::replaced_any() const {
  return std::any_of(sizes_.begin(), sizes_.end(),
                     [&](const auto& s) { return is_replaced(s.first, s.second); });
}

}  // namespace tmeter::resize
