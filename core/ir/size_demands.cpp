#include "core/ir/size_demands.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace tmeter::core {
namespace {

using Dims = std::span<const int64_t>;

bool is_tensor(const Value& v) { return v.kind == TMETER_VALUE_TENSOR; }

/// The dims of the argument at `position`; empty if it is not a tensor.
Dims argument(const Node& n, size_t position) {
  const bool found = position < n.args.size() && is_tensor(*n.args[position].value);
  return found ? Dims(n.args[position].value->dims) : Dims();
}

/// Fits 63 bits: the builder and Graph::evaluate refuse other dims.
int64_t numel(Dims dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

/// Whether each dim of `from`, from the last one backwards, is 1 or equals that of `to`.
bool broadcasts(Dims from, Dims to) {
  if (from.size() > to.size()) return false;
  const auto tail = to.last(from.size());
  return std::ranges::equal(from, tail, [](int64_t a, int64_t b) { return a == 1 || a == b; });
}

bool keeps_elements(const Node& n) {
  return numel(argument(n, 0)) == numel(n.results.front()->dims);
}

/// Whether all tensors among the arguments broadcast to the result.
bool broadcasts_to_result(const Node& n) {
  return std::ranges::all_of(n.args, [&](const Arg& a) {
    return !is_tensor(*a.value) || broadcasts(a.value->dims, n.results.front()->dims);
  });
}

/// A product of the matrices at `left` and the next argument, with any leading dims.
bool multiplies_at(const Node& n, size_t left) {
  const auto a = argument(n, left), b = argument(n, left + 1);
  if (a.empty() || b.empty()) return true;
  return a.back() == b[b.size() == 1 ? 0 : b.size() - 2];
}

bool multiplies(const Node& n) { return multiplies_at(n, 0); }
bool adds_product(const Node& n) { return multiplies_at(n, 1); }

/// A batch of products, without broadcasting.
bool multiplies_batch(const Node& n) {
  const auto a = argument(n, 0), b = argument(n, 1);
  return multiplies(n) && (a.empty() || b.empty() || a.front() == b.front());
}

/// A product with the weight's transpose.
bool multiplies_weight(const Node& n) {
  const auto a = argument(n, 0), b = argument(n, 1);
  return a.empty() || b.empty() || a.back() == b.back();
}

/// The tensors of a list differ in one dim at most. Empty ones of one dim do not count.
bool concatenates(const Node& n) {
  if (n.args.empty() || n.args.front().value->kind != TMETER_VALUE_LIST) return true;
  const auto result = Dims(n.results.front()->dims);
  std::vector<bool> differs(result.size());
  for (const auto* item : n.args.front().value->items) {
    if (!is_tensor(*item)) return true;
    if (item->dims.size() == 1 && item->dims[0] == 0) continue;
    if (item->dims.size() != result.size()) return false;
    for (size_t i = 0; i < result.size(); ++i)
      if (item->dims[i] != result[i]) differs[i] = true;
  }
  return std::ranges::count(differs, true) <= 1;
}

struct Rule {
  std::string_view op, overload;
  bool (*holds)(const Node&);
};

/// Sorted by name.
constexpr std::array<Rule, 24> kRules{{
    {"aten::_reshape_alias", "", keeps_elements},
    {"aten::_unsafe_view", "", keeps_elements},
    {"aten::add", "Tensor", broadcasts_to_result},
    {"aten::add_", "Tensor", broadcasts_to_result},
    {"aten::addmm", "", adds_product},
    {"aten::baddbmm", "", adds_product},
    {"aten::bmm", "", multiplies_batch},
    {"aten::cat", "", concatenates},
    {"aten::concat", "", concatenates},
    {"aten::div", "Tensor", broadcasts_to_result},
    {"aten::expand", "", broadcasts_to_result},
    {"aten::flatten", "using_ints", keeps_elements},
    {"aten::linear", "", multiplies_weight},
    {"aten::matmul", "", multiplies},
    {"aten::maximum", "", broadcasts_to_result},
    {"aten::minimum", "", broadcasts_to_result},
    {"aten::mm", "", multiplies},
    {"aten::mul", "Tensor", broadcasts_to_result},
    {"aten::mul_", "Tensor", broadcasts_to_result},
    {"aten::reshape", "", keeps_elements},
    {"aten::sub", "Tensor", broadcasts_to_result},
    {"aten::view", "", keeps_elements},
    {"aten::view_copy", "", keeps_elements},
    {"aten::where", "self", broadcasts_to_result},
}};
static_assert(std::ranges::is_sorted(kRules, {}, &Rule::op));

const Rule* find_rule(const Node& n) {
  const auto it = std::ranges::lower_bound(kRules, n.op, {}, &Rule::op);
  return it != kRules.end() && it->op == n.op && it->overload == n.overload ? &*it : nullptr;
}

bool follows_symbols(const Value& v) {
  return !v.dim_exprs.empty() ||
         std::ranges::any_of(v.items, [](const Value* item) { return follows_symbols(*item); });
}

}  // namespace

bool has_size_demands(const Node& n) {
  if (n.results.size() != 1 || !is_tensor(*n.results.front()) || !find_rule(n)) return false;
  return follows_symbols(*n.results.front()) ||
         std::ranges::any_of(n.args, [](const Arg& a) { return follows_symbols(*a.value); });
}

bool meets_size_demands(const Node& n) { return find_rule(n)->holds(n); }

}  // namespace tmeter::core
