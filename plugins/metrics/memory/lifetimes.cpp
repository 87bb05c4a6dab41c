#include "lifetimes.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "traffic.hpp"

namespace memory {
namespace {

using tmeter::Count;
using tmeter::Graph;
using tmeter::Node;
using tmeter::Value;

/// Calls `f` for each tensor other than parameters, buffers and constants.
template <class F>
void for_each_activation(const Value& value, const F& f) {
  if (value.is_tensor()) {
    if (!value.tensor()) f(value);
  } else if (value.is_list()) {
    for (size_t i = 0; i < value.size(); ++i) for_each_activation(value[i], f);
  }
}

constexpr uint32_t kNone = ~uint32_t{0};

/// A value that owns memory, or shares it.
struct ValueStorage {
  uint32_t storage = kNone;
  uint32_t call = kNone;  // the call that created it
};

/// A table by value. The values of a graph are adjacent in memory, and so are their entries here:
/// entries that are looked up together share cache lines.
class ByValue {
 public:
  void reserve(size_t values) { resize(std::bit_ceil(2 * values + 64)); }
  void set(const tmeter_value* value, ValueStorage entry) {
    if (2 * (count_ + 1) > slots_.size()) resize(std::max<size_t>(64, 2 * slots_.size()));
    auto& slot = slots_[place_of(value)];
    if (!slot.value) ++count_;
    slot = {value, entry};
  }
  /// The noted facts of a value, or null.
  const ValueStorage* find(const tmeter_value* value) const {
    if (slots_.empty() || !value) return nullptr;
    const auto& slot = slots_[place_of(value)];
    return slot.value ? &slot.entry : nullptr;
  }

 private:
  struct Slot {
    const tmeter_value* value = nullptr;
    ValueStorage entry;
  };
  size_t place_of(const tmeter_value* value) const {
    constexpr uintptr_t kMinDistance = 64;  // least distance of two values in memory
    const size_t mask = slots_.size() - 1;
    for (size_t i = reinterpret_cast<uintptr_t>(value) / kMinDistance & mask;; i = (i + 1) & mask)
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

uint32_t number_of(const tmeter::ModuleCall& call) {
  return call ? static_cast<uint32_t>(call.index()) : kNone;
}

/// The tree of module calls, and the last node of each.
class Calls {
 public:
  explicit Calls(const Graph& graph) : calls_(graph.module_calls().size()) {
    for (const auto& call : graph.module_calls()) {  // callers come before their callees
      const auto parent = number_of(call.parent());
      calls_[call.index()] = {parent, parent == kNone ? 1 : calls_[parent].depth + 1, 0};
    }
    const auto nodes = graph.nodes();
    of_node_.reserve(nodes.size());
    tmeter::ModuleCall last;
    uint32_t number = kNone;
    for (const auto& node : nodes) {
      const auto call = node.call();
      if (call.handle() != last.handle()) number = number_of(call);
      last = call;
      of_node_.push_back(number);
      if (of_node_.back() != kNone)
        calls_[of_node_.back()].end = static_cast<uint32_t>(of_node_.size() - 1);
    }
    for (size_t i = calls_.size(); i-- > 0;) {
      if (calls_[i].parent == kNone) continue;
      auto& end = calls_[calls_[i].parent].end;
      end = std::max(end, calls_[i].end);
    }
  }

  uint32_t of_node(size_t node) const { return of_node_[node]; }

  /// The time until which a node in the call `user` keeps an argument made in the call `maker`: to
  /// the end of the outermost call that it was passed into. Calls that were running when it was
  /// made may hold it by name for any time.
  uint32_t end_of_use(uint32_t node, uint32_t user, uint32_t maker) const {
    uint32_t end = node;
    const auto leave_user = [&] {
      end = std::max(end, calls_[user].end);
      user = calls_[user].parent;
    };
    while (depth(user) > depth(maker)) leave_user();
    while (depth(maker) > depth(user)) maker = calls_[maker].parent;
    while (user != maker) leave_user(), maker = calls_[maker].parent;
    return end;
  }

 private:
  struct Place {
    uint32_t parent = kNone, depth = 0, end = 0;  // 1 for the outermost; its last node
  };
  uint32_t depth(uint32_t call) const { return call == kNone ? 0 : calls_[call].depth; }

  std::vector<Place> calls_;
  std::vector<uint32_t> of_node_;
};

class Tracker {
 public:
  Tracker(const Graph& graph, const AllocatedBytes& made, const AliasedArgument& shared,
          ArgumentLifetime until)
      : graph_(graph), made_(made), shared_(shared) {
    if (until == ArgumentLifetime::kCallsReturn) calls_.emplace(graph);
  }
  Lifetimes run() {
    const size_t n = graph_.nodes().size();
    values_.reserve(n);
    out_.storages.reserve(n + graph_.inputs().size());
    end_ = n == 0 ? 0 : static_cast<uint32_t>(n - 1);
    add_inputs();
    uint32_t i = 0;
    for (const auto& node : graph_.nodes()) step(node, i++);
    for (const auto& value : graph_.outputs())
      for_each_activation(value, [&](const Value& v) {
        if (const auto* entry = values_.find(v.handle())) use(*entry, end_);
      });
    sum_up(n);
    return std::move(out_);
  }

 private:
  void add_inputs() {
    const auto inputs = graph_.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      for_each_activation(inputs[i], [&](const Value& v) {
        auto& input = reserve(v, Node(), kNone);
        if (can_be_sized(v))
          input.bytes = v.bytes();
        else
          out_.complete = false;
        input.input = static_cast<uint32_t>(i);
        input.last = end_;
      });
    }
  }

  void step(const Node& node, uint32_t i) {
    const uint32_t call = calls_ ? calls_->of_node(i) : kNone;
    Value base;  // the first tensor argument: the base of a view
    const size_t args = node.arg_count(), results = node.result_count();
    for (size_t a = 0; a < args; ++a) use_argument(node.arg(a), i, call, base);
    const auto made = made_(node);
    if (!made) out_.complete = false;
    const bool shares = made && *made == Count(0);
    const size_t before = out_.storages.size();
    fresh_.clear();
    for (size_t k = 0; k < results; ++k) {
      if (const auto argument = shared_(node, k)) {
        share_all(node.result(k), node.arg(*argument), node, call);
        continue;
      }
      for_each_activation(node.result(k), [&](const Value& v) {
        if (shares) return share(v, base, node, call);
        if (values_.find(v.handle())) return;
        auto& s = reserve(v, node, call);
        s.first = s.last = i;
        fresh_.push_back(v);
      });
    }
    if (!made || shares) return;
    if (fresh_.size() == 1 && results == 1 && fresh_[0].handle() == node.result(0).handle())
      out_.storages[before].bytes = *made;
    else
      divide(*made, node);
  }

  /// Entries own memory or share it; for other values the graph is consulted.
  void use_argument(const Value& v, uint32_t node, uint32_t call, Value& base) {
    if (const auto* entry = values_.find(v.handle())) {
      if (!base.handle()) base = v;
      use(*entry, calls_ ? calls_->end_of_use(node, call, entry->call) : node);
    } else if (v.is_list()) {
      for (size_t i = 0; i < v.size(); ++i) use_argument(v[i], node, call, base);
    } else if (!base.handle() && v.is_tensor() && !v.tensor()) {
      base = v;
    }
  }

  /// Divides the bytes of a node among its new results, which have the last storages: if the sum is
  /// theirs, by their sizes; else in proportion, or all to the first if some cannot be sized.
  void divide(Count made, const Node& node) {
    if (fresh_.empty()) return;
    const auto results = results_of(node);
    const Count all = results.complete ? results.bytes() : Count(0);
    const auto first = out_.storages.end() - static_cast<ptrdiff_t>(fresh_.size());
    Count left = made;
    for (size_t k = 0; all > Count(0) && k < fresh_.size(); ++k) {
      auto& part = first[static_cast<ptrdiff_t>(k)].bytes;
      part =
          made == all ? fresh_[k].bytes() : std::min(left, share_of(made, fresh_[k].bytes(), all));
      left = left - part;
    }
    if (made != all) first->bytes += left;
  }

  static Count share_of(Count made, Count part, Count all) {
    const auto share =
        static_cast<long double>(part.value()) / static_cast<long double>(all.value());
    return static_cast<int64_t>(share * static_cast<long double>(made.value()));
  }

  /// The call in which a value was made; usually `call`, by the current node.
  uint32_t maker_of(const Value& v, const Node& node, uint32_t call) const {
    if (!calls_) return kNone;
    const auto producer = v.producer();
    if (producer.handle() == node.handle()) return call;
    return producer ? number_of(producer.call()) : kNone;
  }

  Storage& reserve(const Value& v, const Node& maker, uint32_t call) {
    const auto storage = static_cast<uint32_t>(out_.storages.size());
    values_.set(v.handle(), {storage, maker_of(v, maker, call)});
    auto& s = out_.storages.emplace_back();
    s.maker = maker;
    return s;
  }

  /// A view of a parameter has no memory of its own either.
  void share(const Value& v, const Value& base, const Node& node, uint32_t call) {
    if (const auto* entry = values_.find(base.handle()))
      values_.set(v.handle(), {entry->storage, maker_of(v, node, call)});
  }

  /// A list shares item by item with one of equal length, else each item with the first of `with`.
  void share_all(const Value& v, const Value& with, const Node& node, uint32_t call) {
    if (!v.is_list()) return share(v, with.is_list() ? with[0] : with, node, call);
    const bool by_item = with.is_list() && with.size() == v.size();
    for (size_t i = 0; i < v.size(); ++i) share_all(v[i], by_item ? with[i] : with, node, call);
  }

  void use(const ValueStorage& entry, uint32_t at) {
    auto& last = out_.storages[entry.storage].last;
    last = std::max(last, at);
  }

  void sum_up(size_t nodes) {
    auto& alive = out_.alive;  // the results first
    alive.assign(nodes, 0);
    if (alive.empty()) return;
    std::vector<Count> freed(nodes);
    for (const auto& s : out_.storages) {
      alive[s.first] += s.bytes;
      freed[s.last] += s.bytes;
    }
    Count now = 0;
    for (size_t i = 0; i < nodes; ++i) {
      alive[i] += now;
      now = alive[i] - freed[i];
    }
  }

  const Graph& graph_;
  const AllocatedBytes& made_;
  const AliasedArgument& shared_;
  std::optional<Calls> calls_;  // empty if callers do not hold arguments
  Lifetimes out_;
  uint32_t end_ = 0;
  ByValue values_;
  std::vector<Value> fresh_;  // results of the current node
};

}  // namespace

Lifetimes lifetimes(const Graph& graph, const AllocatedBytes& made, const AliasedArgument& shared,
                    ArgumentLifetime until) {
  return Tracker(graph, made, shared, until).run();
}

size_t peak_of(const Lifetimes& l) {
  return static_cast<size_t>(std::max_element(l.alive.begin(), l.alive.end()) - l.alive.begin());
}

}  // namespace memory
