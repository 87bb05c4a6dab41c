#include "core/comparison/comparison.hpp"

#include <tmeter/abi/draft/comparison.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/comparison/matching.hpp"

namespace tmeter::core {
namespace {

bool same(const tmeter_number& a, const tmeter_number& b) {
  const bool nan = a.kind == TMETER_NUMBER_FLOAT && std::isnan(a.f) && std::isnan(b.f);
  return a.kind == b.kind && is_partial(a) == is_partial(b) && is_assumed(a) == is_assumed(b) &&
         a.i == b.i && (nan || a.f == b.f);
}

tmeter_number value_of(const Column& c, size_t module) {
  return c.cell(module == 0 ? TMETER_AXIS_MODEL : TMETER_AXIS_MODULE, module);
}

/// Columns of both reports, by their indices.
using Columns = std::vector<std::pair<const Column*, const Column*>>;

Columns common_columns(const Report& before, const Report& after) {
  Columns out;
  for (const auto& c : before.results.columns)
    if (const auto* other = after.results.find(c.id)) out.emplace_back(&c, other);
  return out;
}

/// The tree of the comparison: B's modules, and A's removed modules at their former places.
class Rows {
 public:
  Rows(const Report& before, const Report& after, const Matches& matches)
      : before_(before),
        after_(after),
        matches_(matches),
        columns_(common_columns(before, after)) {}

  std::vector<ModulePair> all() {
    add(0, 0, 0);
    return std::move(rows_);
  }

 private:
  const Module* before(size_t i) const {
    return i == kNoModule ? nullptr : before_.graph->modules()[i];
  }
  const Module* after(size_t i) const {
    return i == kNoModule ? nullptr : after_.graph->modules()[i];
  }

  uint32_t flags(size_t a, size_t b) const {
    if (a == kNoModule) return TMETER_PAIR_ADDED;
    if (b == kNoModule) return TMETER_PAIR_REMOVED;
    uint32_t out = 0;
    if (before(a)->path != after(b)->path) out |= TMETER_PAIR_RENAMED;
    if (own_definition(before_, a) != own_definition(after_, b)) out |= TMETER_PAIR_REDEFINED;
    const bool values_differ = std::any_of(columns_.begin(), columns_.end(), [&](const auto& c) {
      return !same(value_of(*c.first, a), value_of(*c.second, b));
    });
    return values_differ ? out | TMETER_PAIR_FIGURES : out;
  }

  /// Depth is that of a module tree: at most limits::kModuleDepth, twice.
  void add(size_t a, size_t b, size_t depth) {
    rows_.push_back({a, b, depth, flags(a, b)});
    const auto* was = before(a);
    const auto* is = after(b);
    size_t next = 0;  // of A's children
    const auto add_removed = [&](size_t end) {
      for (; was && next < end; ++next) {
        const auto child = was->children[next]->index;
        if (matches_.of_before[child] == kNoModule) add(child, kNoModule, depth + 1);
      }
    };
    if (is) {
      for (const auto* child : is->children) {
        const auto partner = matches_.of_after[child->index];
        if (was && partner != kNoModule && before(partner)->parent == was)
          add_removed(place_among(*was, partner));
        add(partner, child->index, depth + 1);
      }
    }
    if (was) add_removed(was->children.size());
  }

  /// A child's position among its siblings. The search continues where the last one ended, because
  /// children usually keep their order.
  size_t place_among(const Module& parent, size_t child) {
    auto& places = places_[parent.index];
    if (places.empty())
      for (size_t i = 0; i < parent.children.size(); ++i)
        places.emplace(parent.children[i]->index, i);
    return places.at(child);
  }

  const Report &before_, &after_;
  const Matches& matches_;
  const Columns columns_;
  std::map<size_t, std::map<size_t, size_t>> places_;
  std::vector<ModulePair> rows_;
};

std::string input_text(const Report& report) {
  std::string text;
  for (const auto& i : report.graph->inputs()) {
    text += (text.empty() ? "" : ", ") + std::string(i.name) +
            (i.value->kind == TMETER_VALUE_TENSOR ? shape_text(i.value->dims) : std::string());
  }
  return text;
}

void note_metrics(const Report& a, const Report& b, std::vector<std::string>& notes) {
  const auto only = [](const Report& one, const Report& other) {
    std::vector<std::string> ids;
    for (const auto& c : one.results.columns)
      if (!other.results.find(c.id)) ids.push_back(c.id);
    return joined(ids);
  };
  if (const auto ids = only(a, b); !ids.empty()) notes.push_back("only before: " + ids);
  if (const auto ids = only(b, a); !ids.empty()) notes.push_back("only after: " + ids);
  for (const auto& [before, after] : common_columns(a, b))
    if (before->convention != after->convention)
      notes.push_back(before->id + " is counted by two conventions: before '" + before->convention +
                      "', after '" + after->convention + "'");
}

std::vector<std::string> notes(const Report& before, const Report& after) {
  std::vector<std::string> out;
  const auto a = input_text(before), b = input_text(after);
  if (a != b) out.push_back("the inputs differ: before " + a + ", after " + b);
  note_metrics(before, after, out);
  return out;
}

}  // namespace

Comparison compare(const Report& before, const Report& after) {
  const auto matches = match_modules(before, after);
  return {&before, Rows(before, after, matches).all(), notes(before, after)};
}

std::vector<std::pair<const Tensor*, const Tensor*>> tensor_pairs(const Report& after) {
  const auto& before = *after.comparison.before;
  const auto local = [](const Tensor& t) {
    return t.name.substr(std::min(t.name.size(), t.name.rfind('.') + 1));
  };
  std::vector<std::pair<const Tensor*, const Tensor*>> out;
  for (const auto& p : after.comparison.pairs) {
    if (p.before == kNoModule || p.after == kNoModule) continue;
    std::map<std::string_view, const Tensor*> by_name;
    for (const auto* t : before.graph->modules()[p.before]->tensors)
      if (t->canonical == t) by_name.emplace(local(*t), t);
    for (const auto* t : after.graph->modules()[p.after]->tensors) {
      const auto at = by_name.find(local(*t));
      if (t->canonical != t || at == by_name.end()) continue;
      if (std::equal(t->dims.begin(), t->dims.end(), at->second->dims.begin(),
                     at->second->dims.end()))
        out.emplace_back(at->second, t);
    }
  }
  return out;
}

void mark_changed(Report& after, const std::vector<const Tensor*>& changed) {
  std::set<size_t> owners;
  for (const auto* t : changed) owners.insert(t->owner ? t->owner->index : 0);
  for (auto& p : after.comparison.pairs)
    if (p.after != kNoModule && owners.contains(p.after)) p.flags |= TMETER_PAIR_FIGURES;
}

namespace {

/// After minus before; as a share of the value before if `relative`. A difference of partial values
/// bounds nothing and is flagged as partial.
tmeter_number difference(const tmeter_number& a, const tmeter_number& b, bool relative) {
  for (const auto& n : {a, b})
    if (!is_known(n))
      return n.kind == TMETER_NUMBER_NONE ? number_of_kind(TMETER_NUMBER_UNKNOWN) : n;
  tmeter_number out{};
  const auto whole = [](const tmeter_number& n) { return n.kind == TMETER_NUMBER_INT ? n.i : 0; };
  int64_t exact = 0;
  const bool ints = a.kind != TMETER_NUMBER_FLOAT && b.kind != TMETER_NUMBER_FLOAT &&
                    !__builtin_sub_overflow(whole(b), whole(a), &exact);
  const double change = ints ? static_cast<double>(exact) : real(b) - real(a);
  if (relative)
    out = number(change == 0 ? 0.0 : change / std::fabs(real(a)));
  else
    out = ints ? number(exact) : number(change);
  if (is_partial(a) || is_partial(b)) out.flags = TMETER_NUMBER_PARTIAL;
  if (is_assumed(a) || is_assumed(b)) out.flags = TMETER_NUMBER_ASSUMED;
  return out;
}

/// The pair with this path in B, else in A.
const ModulePair& pair_of(const Assertion& a, const Report& after) {
  const auto find = [&](const Report& report, size_t ModulePair::*side) -> const ModulePair* {
    for (const auto& p : after.comparison.pairs)
      if (p.*side != kNoModule && report.graph->modules()[p.*side]->path == a.module) return &p;
    return nullptr;
  };
  if (const auto* p = find(after, &ModulePair::after)) return *p;
  if (const auto* p = find(*after.comparison.before, &ModulePair::before)) return *p;
  throw Error(ErrorKind::kUsage, "--assert '" + printable(a.text) + "': there is no module '" +
                                     printable(a.module) + "' in either model");
}

tmeter_number value_in(Assertion plain, const Report& report, size_t module) {
  if (module == kNoModule) return number_of_kind(TMETER_NUMBER_UNAVAILABLE);
  plain.change = false;
  plain.module = report.graph->modules()[module]->path;
  return evaluate(plain, *report.graph, report.results).value;
}

}  // namespace

AssertionResult evaluate_change(const Assertion& a, const Report& after) {
  if (!a.change) return evaluate(a, *after.graph, after.results);
  const auto& before = *after.comparison.before;
  const auto& pair = a.module.empty() ? after.comparison.pairs.front() : pair_of(a, after);
  AssertionResult out;
  out.assertion = a;
  out.subject = (a.module.empty() ? "" : "module(\"" + a.module + "\").") + "diff." + a.metric;
  out.value =
      difference(value_in(a, before, pair.before), value_in(a, after, pair.after), a.relative);
  if (!a.relative && !is_of_operators(a)) out.metric = find_column(a, after.results);
  out.module = pair.after == kNoModule ? 0 : pair.after;
  out.holds = holds(out.value, a);
  return out;
}

}  // namespace tmeter::core
