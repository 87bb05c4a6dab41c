// Who uses what an operator makes: whether two operators may become one hangs on it.
//
//   const plugins::Uses uses(graph);
//   if (const auto next = uses.sole(conv.result(0), plugins::Through::kIdle))  // nobody else looks
//   at it
//     … next.node, which takes it as next.value …
#pragma once
#include <tmeter/cpp/plugin.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#pragma GCC visibility push(hidden)  // as the SDK types inside
namespace plugins {

/// What is looked through on the way from a value to who uses its numbers.
enum class Through {
  kIdle,     // dropout in eval mode, alias, conversions that change nothing
  kReshape,  // also views that keep the order of the numbers
  kView      // also views that change it
};

/// An operator that hands its first tensor on as it is.
bool is_idle(const tmeter::Node& node);
/// An operator of `through`: idle, or such a view with one result.
bool is_seen_through(const tmeter::Node& node, Through through);

/// What was made before operators of `through` handed it on.
tmeter::Value origin(tmeter::Value value, Through through);

/// How many numbers, and bytes, a tensor has. In a file made to mislead they may be beyond any
/// memory, where Value::bytes throws; a size below 0 counts as 0.
double numbers_of(const tmeter::Shape& shape);
double bytes_of(const tmeter::Value& value);
double bytes_of(const tmeter::Tensor& tensor);

/// All tensor values in an argument or result, also those in lists.
template <class F>
void for_each_tensor(const tmeter::Value& value, const F& f) {
  if (value.is_tensor()) return f(value);
  for (size_t i = 0; i < value.size(); ++i) for_each_tensor(value[i], f);
}
template <class F>
void for_each_input(const tmeter::Node& node, const F& f) {
  for (size_t i = 0; i < node.arg_count(); ++i) for_each_tensor(node.arg(i), f);
}

/// What depends on an input of the model; the rest is the same in every run.
class SeesInputs {
 public:
  explicit SeesInputs(const tmeter::Graph& graph);
  bool operator()(const tmeter::Node& node) const { return seen_[node.index()]; }
  bool operator()(const tmeter::Value& value) const;

 private:
  std::unordered_set<const tmeter_value*> inputs_;
  std::vector<bool> seen_;  // by node
};

struct Use {
  tmeter::Node node;    // who uses it; none when it is not used once
  tmeter::Value value;  // as what: the value itself, or what a view made of it
  explicit operator bool() const { return static_cast<bool>(node); }
};

class Uses {
 public:
  explicit Uses(const tmeter::Graph& graph);

  /// The one node that uses the value, however often it names it. None when there are several or
  /// none, and when the model returns it.
  Use sole(tmeter::Value value, Through through) const;
  /// The nodes that use it, seen through idle ones, in their order; empty too when the model
  /// returns it.
  std::vector<tmeter::Node> all(const tmeter::Value& value) const;
  /// By how many nodes a parameter or buffer is used, whatever it is called.
  size_t of(const tmeter::Tensor& tensor) const;

 private:
  struct Users {
    std::vector<tmeter::Node> nodes;
    bool returned = false;
  };
  void add(const tmeter::Value& value, const tmeter::Node& node);
  const Users* users(const tmeter::Value& value) const;
  bool collect(const tmeter::Value& value, int steps, std::vector<tmeter::Node>& into) const;

  std::unordered_map<const tmeter_value*, Users> users_;
  std::unordered_map<const tmeter_tensor*, std::vector<size_t>> of_tensor_;  // node indices
};

}  // namespace plugins
#pragma GCC visibility pop
