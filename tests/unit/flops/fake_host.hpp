// One hand-made operator and a host just large enough for a plugin to count it.
//
//   const auto n = op("aten::mm").tensor("self", {2, 3}).tensor("mat2", {3, 4}).out({2, 4});
//   EXPECT_EQ(n.count("macs"), 24);
//
// `count` returns nothing for an unknown node.
#pragma once
#include <tmeter/abi/tmeter.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct tmeter_tensor {
  int64_t bytes = 0;  // as stored
  const tmeter_tensor* tied_to = nullptr;
};

struct tmeter_value {
  int32_t kind = TMETER_VALUE_NONE, dtype = TMETER_DTYPE_UNDEFINED;
  std::vector<int64_t> dims{};
  int64_t i = 0;
  std::string text{};
  std::vector<tmeter_value> items{};
  double f = 0;
  const tmeter_tensor* stored = nullptr;
};

struct tmeter_node {
  std::string op, overload;
  std::vector<std::pair<std::string, tmeter_value>> args;
  std::vector<tmeter_value> results;
  size_t index = 0;
  std::string work{};  // the class that a plugin gives it
  // From the schema of the operator's plugin; empty if the schema declares nothing.
  std::vector<std::pair<int32_t, size_t>> memory;  // of results: TMETER_MEMORY_…, argument
  std::vector<bool> written;                       // of arguments
};

namespace fake {

using Dims = std::vector<int64_t>;

inline tmeter_value tensor(Dims dims, int32_t dtype = TMETER_DTYPE_FLOAT32) {
  return {TMETER_VALUE_TENSOR, dtype, std::move(dims)};
}
inline tmeter_value integer(int64_t i) { return {TMETER_VALUE_INT, TMETER_DTYPE_UNDEFINED, {}, i}; }

class Op {
 public:
  explicit Op(const std::string& name) {
    const auto dot = name.find('.');
    node_.op = name.substr(0, dot);
    if (dot != std::string::npos) node_.overload = name.substr(dot + 1);
  }
  Op& arg(const std::string& name, tmeter_value v) {
    node_.args.emplace_back(name, std::move(v));
    return *this;
  }
  Op& tensor(const std::string& name, Dims dims) {
    return arg(name, fake::tensor(std::move(dims)));
  }
  Op& number(const std::string& name, int64_t i) { return arg(name, integer(i)); }
  Op& real(const std::string& name, double f) {
    return arg(name, {TMETER_VALUE_FLOAT, TMETER_DTYPE_UNDEFINED, {}, 0, {}, {}, f});
  }
  Op& flag(const std::string& name) {
    return arg(name, {TMETER_VALUE_BOOL, TMETER_DTYPE_UNDEFINED, {}, 1});
  }
  Op& text(const std::string& name, std::string text) {
    return arg(name, {TMETER_VALUE_TEXT, TMETER_DTYPE_UNDEFINED, {}, 0, std::move(text)});
  }
  Op& numbers(const std::string& name, const Dims& numbers) {
    tmeter_value list{TMETER_VALUE_LIST};
    for (const auto i : numbers) list.items.push_back(integer(i));
    return arg(name, list);
  }
  Op& tensors(const std::string& name, const std::vector<Dims>& shapes) {
    tmeter_value list{TMETER_VALUE_LIST};
    for (const auto& s : shapes) list.items.push_back(fake::tensor(s));
    return arg(name, list);
  }
  Op& out(Dims dims, int32_t dtype = TMETER_DTYPE_FLOAT32) {
    node_.results.push_back(fake::tensor(std::move(dims), dtype));
    return *this;
  }

  Op& tensors_out(const std::vector<Dims>& shapes) {
    tmeter_value list{TMETER_VALUE_LIST};
    for (const auto& s : shapes) list.items.push_back(fake::tensor(s));
    node_.results.push_back(std::move(list));
    return *this;
  }

  Op& work(const std::string& name) {
    node_.work = name;
    return *this;
  }
  Op& index(size_t index) {
    node_.index = index;
    return *this;
  }
  /// The declarations of a plugin's schema: written arguments, and the memory of each result.
  Op& schema(std::vector<bool> written, std::vector<std::pair<int32_t, size_t>> memory) {
    node_.written = std::move(written);
    node_.memory = std::move(memory);
    return *this;
  }

  /// The metric of this node under a convention ("torch half": with causal halving); nothing if it
  /// is unknown.
  std::optional<int64_t> count(const std::string& metric,
                               const std::string& convention = "torch") const;
  bool zero_by_rule(const std::string& metric) const;
  /// For code below the plugin's entry, after a first count through it.
  const tmeter_node* handle() const { return &node_; }

 private:
  tmeter_node node_;
};

inline Op op(const std::string& name) { return Op(name); }

/// Warnings of all counts so far.
const std::vector<std::string>& warnings();

}  // namespace fake
