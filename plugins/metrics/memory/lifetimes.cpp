#include "lifetimes.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "tensors.hpp"

namespace memory {
namespace {

using tmeter::Count;
using tmeter::Graph;
using tmeter::Node;
using tmeter::Value;

/// Calls `f` for each tensor that is no parameter, buffer or constant.
template <class F>
void for_each_activation(const Value& value, const F& f) {
  if (value.is_tensor()) {
    if (!value.tensor()) f(value);
  } else if (value.is_list()) {
    for (size_t i = 0; i < value.size(); ++i) for_each_activation(value[i], f);
  }
}

constexpr size_t kNone = static_cast<size_t>(-1);

/// Values → numbers. A graph's values lie one behind the other in memory, and so do they here: what
/// is looked for together is found together.
class ByValue {
 public:
  void reserve(size_t values) { resize(std::bit_ceil(2 * values + 64)); }
  void set(const tmeter_value* value, size_t number) {
    if (2 * (count_ + 1) > slots_.size()) resize(std::max<size_t>(64, 2 * slots_.size()));
    auto& slot = slots_[place_of(value)];
    if (!slot.value) ++count_;
    slot = {value, number};
  }
  std::optional<size_t> find(const tmeter_value* value) const {
    if (slots_.empty() || !value) return std::nullopt;
    const auto& slot = slots_[place_of(value)];
    return slot.value ? std::optional(slot.number) : std::nullopt;
  }

 private:
  struct Slot {
    const tmeter_value* value = nullptr;
    size_t number = 0;
  };
  size_t place_of(const tmeter_value* value) const {
    constexpr uintptr_t kClosest = 64;  // no two values are closer
    const size_t mask = slots_.size() - 1;
    for (size_t i = reinterpret_cast<uintptr_t>(value) / kClosest & mask;; i = (i + 1) & mask)
      if (!slots_[i].value || slots_[i].value == value) return i;
  }
  void resize(size_t slots) {
    if (slots <= slots_.size()) return;
    const auto before = std::exchange(slots_, std::vector<Slot>(slots));
    for (const auto& slot : before)
      if (slot.value) slots_[place_of(slot.value)] = slot;
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

class Tracker {
 public:
  Tracker(const Made& made, Until until) : made_(made), until_(until) {}
  Lifetimes run(const Graph& graph) {
    const size_t n = graph.nodes().size();
    storage_.reserve(n);
    end_ = n == 0 ? 0 : n - 1;
    if (until_ == Until::kCallsReturn) find_call_ends(graph);
    add_inputs(graph);
    for (const auto& node : graph.nodes()) step(node);
    for (const auto& value : graph.outputs())
      for_each_activation(value, [&](const Value& v) { use(v, end_); });
    out_.alive.assign(n, 0);
    sum_up();
    return std::move(out_);
  }

 private:
  /// From the last node on: a call that was met before ends later, and so do all around it.
  void find_call_ends(const Graph& graph) {
    call_ends_.assign(graph.module_calls().size(), kNone);
    const auto nodes = graph.nodes();
    for (size_t i = nodes.size(); i-- > 0;) {
      for (auto call = nodes[i].call(); call && call_ends_[call.index()] == kNone;
           call = call.parent())
        call_ends_[call.index()] = i;
    }
    find_depths(graph);
  }

  void find_depths(const Graph& graph) {
    for (const auto& call : graph.module_calls())  // callers come before what they call
      depths_.push_back(call.parent() ? depths_[call.parent().index()] + 1 : 1);
  }

  size_t depth(const tmeter::ModuleCall& call) const { return call ? depths_[call.index()] : 0; }

  /// Until when `node` keeps its argument: to the end of the outermost call that it was passed
  /// into. Calls that were running when the value was made hold it by name for as long as they
  /// like.
  size_t end_of_use(const Value& v, const Node& node) {
    if (until_ == Until::kLastUse) return node.index();
    const auto producer = v.producer();
    auto maker = producer ? producer.call() : tmeter::ModuleCall();
    auto user = node.call();
    size_t end = node.index();
    const auto leave_user = [&] {
      end = std::max(end, call_ends_[user.index()]);
      user = user.parent();
    };
    while (depth(user) > depth(maker)) leave_user();
    while (depth(maker) > depth(user)) maker = maker.parent();
    while (user.handle() != maker.handle()) leave_user(), maker = maker.parent();
    return end;
  }

  void add_inputs(const Graph& graph) {
    const auto inputs = graph.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      for_each_activation(inputs[i], [&](const Value& v) {
        make(v, 0).input = graph.input_name(i);
        out_.storages.back().last = end_;
      });
    }
  }

  void step(const Node& node) {
    const size_t i = node.index();
    Value base;  // the first tensor argument: what a view is a view of
    for (size_t a = 0; a < node.arg_count(); ++a) {
      for_each_activation(node.arg(a), [&](const Value& v) {
        if (base.is_none()) base = v;
        use(v, end_of_use(v, node));
      });
    }
    const auto made = made_(node);
    if (!made) out_.complete = false;
    const bool shares = made && *made == Count(0);
    std::vector<Value> fresh;
    for (size_t k = 0; k < node.result_count(); ++k) {
      for_each_activation(node.result(k), [&](const Value& v) {
        if (shares) return share(v, base);
        if (storage_.find(v.handle())) return;
        reserve(v, i).maker = node;
        fresh.push_back(v);
      });
    }
    if (made && !shares) divide(*made, node, fresh);
  }

  /// What a node makes, among its new results, which have the last storages: if it is what they
  /// are, as large as each is; else in proportion, or all to the first where some cannot be sized.
  void divide(Count made, const Node& node, const std::vector<Value>& fresh) {
    if (fresh.empty()) return;
    const auto results = results_of(node);
    const Count all = results.complete ? results.bytes() : Count(0);
    const auto first = out_.storages.end() - static_cast<ptrdiff_t>(fresh.size());
    Count left = made;
    for (size_t k = 0; all > Count(0) && k < fresh.size(); ++k) {
      auto& part = first[static_cast<ptrdiff_t>(k)].bytes;
      part = made == all ? fresh[k].bytes() : std::min(left, share_of(made, fresh[k].bytes(), all));
      left = left - part;
    }
    if (made != all) first->bytes += left;
  }

  static Count share_of(Count made, Count part, Count all) {
    const auto share =
        static_cast<long double>(part.value()) / static_cast<long double>(all.value());
    return static_cast<int64_t>(share * static_cast<long double>(made.value()));
  }

  Storage& make(const Value& v, size_t at) {
    auto& s = reserve(v, at);
    if (can_be_sized(v))
      s.bytes = v.bytes();
    else
      out_.complete = false;
    return s;
  }

  Storage& reserve(const Value& v, size_t at) {
    storage_.set(v.handle(), out_.storages.size());
    Storage s;
    s.first = s.last = at;
    return out_.storages.emplace_back(s);
  }

  /// A view of a parameter has no memory of its own either.
  void share(const Value& v, const Value& base) {
    if (const auto storage = storage_.find(base.handle())) storage_.set(v.handle(), *storage);
  }

  void use(const Value& v, size_t at) {
    const auto storage = storage_.find(v.handle());
    if (!storage) return;
    auto& last = out_.storages[*storage].last;
    last = std::max(last, at);
  }

  void sum_up() {
    if (out_.alive.empty()) return;
    std::vector<Count> made(out_.alive.size()), freed(out_.alive.size());
    for (const auto& s : out_.storages) {
      made[s.first] += s.bytes;
      freed[s.last] += s.bytes;
    }
    Count now = 0;
    for (size_t i = 0; i < out_.alive.size(); ++i) {
      out_.alive[i] = now + made[i];
      now = out_.alive[i] - freed[i];
    }
  }

  const Made& made_;
  Until until_;
  Lifetimes out_;
  size_t end_ = 0;
  std::vector<size_t> call_ends_, depths_;  // by call: its last node; 1 for the outermost
  ByValue storage_;
};

}  // namespace

Lifetimes lifetimes(const Graph& graph, const Made& made, Until until) {
  return Tracker(made, until).run(graph);
}

size_t peak_of(const Lifetimes& l) {
  return static_cast<size_t>(std::max_element(l.alive.begin(), l.alive.end()) - l.alive.begin());
}

}  // namespace memory
