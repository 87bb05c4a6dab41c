// Writes operators through the builder: each function writes a few operators of torch over open
// sizes.
#pragma once
#include <tmeter/abi/draft/blueprint.h>

#include <map>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "settings.hpp"

namespace blueprint {

using tmeter::Module;
using tmeter::Tensor;

constexpr int64_t kUsualSequence = 128;  // unless bound

/// A number times open sizes: symbols, and sizes that follow from them.
struct Size {
  int64_t number = 1;
  std::vector<size_t> open{};  // indices in the program, in order

  Size(int64_t n = 1) : number(n) {}  // NOLINT: numbers are sizes
  Size operator*(const Size& o) const;
  bool operator==(const Size&) const = default;
  auto operator<=>(const Size&) const = default;
};

struct Value {
  tmeter_id id = 0;
  std::vector<Size> dims;
  tmeter::DType dtype = tmeter::DType(TMETER_DTYPE_FLOAT32);
  const Size& back() const { return dims.back(); }
};

/// A parameter by its name in the module ("weight"); false if it is missing.
Tensor find_tensor(const Module& m, std::string_view name);
/// A child by name; false if it is missing.
Module find_child(const Module& m, std::string_view name);
/// The first that exists.
Module first_child(const Module& m, const std::vector<std::string_view>& names);
Tensor first_tensor(const Module& m, const std::vector<std::string_view>& names);
/// A norm's scale; checkpoints converted from TensorFlow have gamma and beta, and Falcon-H1's GGUF
/// files a name without an ending.
inline const std::vector<std::string_view> kNormWeight{"weight", "gamma", "ffn_norm"};
/// Whether the module has a weight of a matrix product: a tensor of rank 2.
bool is_matrix(const Module& m);

class Program {
 public:
  Program(tmeter_builder* builder, tmeter::DType dtype, int64_t max_tokens);

  Size batch() { return symbol("batch", INT64_MAX, 1); }
  Size sequence();
  int64_t max_tokens() const { return max_tokens_; }
  /// A new symbol from `least` to `most` (0: no limit); `usual` unless bound.
  Size symbol(std::string_view name, int64_t most, int64_t usual, int64_t least = 1);
  /// An operator of the ABI (TMETER_EXPR_…) over a size and a number.
  Size derived(int32_t op, const Size& a, int64_t b);
  /// "2 × batch"
  std::string text(const Size& s) const;
  tmeter::DType dtype() const { return dtype_; }

  /// During its lifetime, operators belong to a call of the module.
  class ModuleCallScope {
   public:
    ModuleCallScope(Program& p, const Module& m, std::string_view type);
    /// Creates a module without tensors.
    ModuleCallScope(Program& p, const Module& parent, std::string_view name, std::string_view type);
    ~ModuleCallScope() { p_.calls_.pop_back(); }
    ModuleCallScope(const ModuleCallScope&) = delete;
    ModuleCallScope& operator=(const ModuleCallScope&) = delete;

   private:
    Program& p_;
  };

  Value input(std::string_view name, tmeter::DType dtype, std::vector<Size> dims);
  void output(const Value& v);
  /// A tensor of the model. It counts as understood.
  Value bound(const Tensor& t);

  // Operators in a new call of the module, with its tensors `weight` and `bias`. They throw
  // Contradiction if sizes differ.
  Value linear(const Module& m, const Value& x);
  /// The weight is that of GPT-2's Conv1D, [in, out].
  Value transposed_linear(const Module& m, const Value& x);
  Value embedding(const Module& m, const Value& ids);
  Value norm(const Module& m, const Value& x);

  struct Sliding {
    int64_t stride = 1, padding = 0, groups = 1;
  };
  /// A convolution over the dims of the weight after its first two; `dims`: the result has these.
  Value convolution(const Module& m, const Value& x, std::vector<Size> dims, const Sliding& how);

  // Operators in the present call.
  Value linear(const Value& x, const Tensor& weight, const Tensor& bias);
  Value unary(std::string_view op, const Value& x);
  Value binary(std::string_view op, const Value& a, const Value& b);
  Value view(const Value& x, std::vector<Size> dims);
  Value transpose(const Value& x, size_t a, size_t b);
  std::vector<Value> split(const Value& x, const std::vector<Size>& parts);  // the last dim
  Value attention(const Value& q, const Value& k, const Value& v, bool causal);
  Value concat(const Value& a, const Value& b);  // the last dim
  Value einsum(std::string_view equation, const Value& a, const Value& b, std::vector<Size> to);
  Value topk(const Value& scores, int64_t k);
  /// Multiplies every token by the weights of its experts: x [T, in] → [T × k, out].
  Value experts(const Value& x, const std::vector<Tensor>& weights, int64_t number,
                const Size& rows, int64_t out);
  Value node(std::string_view op, std::vector<std::pair<std::string_view, tmeter_id>> args,
             std::vector<Size> dims, tmeter::DType dtype);
  /// A module of unknown kind: its output is its input x.
  Value unknown(const std::string& op, const Value& x, const std::vector<Tensor>& tensors);

  void attribute(const Module& m, std::string_view name, int64_t value);
  void attribute(const Module& m, std::string_view name, std::string_view value);
  void type(const Module& m, std::string_view type);
  bool is_used(const Tensor& t) const { return used_.contains(t.index()); }
  void use(const Tensor& t) { used_.emplace(t.index(), 0); }
  tmeter::GraphBuilder& graph() { return graph_; }

 private:
  [[noreturn]] void does_not_fit(const Tensor& t, const Value& x) const;
  tmeter_id expression(const Size& s);
  tmeter_dim dim(const Size& s);
  std::vector<tmeter_dim> dims(const std::vector<Size>& sizes);
  Value made(std::vector<Size> sizes, tmeter::DType dtype);
  tmeter_id sizes(const std::vector<Size>& sizes);

  tmeter_builder* builder_;
  tmeter::GraphBuilder graph_;
  tmeter::DType dtype_;
  struct OpenSize {
    std::string name;
    tmeter_id expression;
  };
  template <class F>
  Size open(const std::string& name, const F& make);
  std::vector<OpenSize> open_;
  int64_t max_tokens_;
  std::map<Size, tmeter_id> expressions_;
  std::map<size_t, tmeter_id> used_;  // values of tensors
  std::vector<tmeter_id> calls_{1};   // the root has a call
};

}  // namespace blueprint
