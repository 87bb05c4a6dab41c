#include "core/comparison/matching.hpp"

#include <deque>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>

namespace tmeter::core {
namespace {

/// Numbers strings. Equal numbers mean equal strings, in both reports.
class Names {
 public:
  size_t operator[](std::string text) {
    return numbers_.try_emplace(std::move(text), numbers_.size()).first->second;
  }

 private:
  std::unordered_map<std::string, size_t, TextHash> numbers_;
};

/// A number for each module: equal for modules of equal structure.
using Kinds = std::vector<size_t>;

/// `own`: a module's definition without children. Backwards, because children come after their
/// parent.
template <class Own>
Kinds kinds(const Report& report, Names& names, Own&& own) {
  const auto& modules = report.graph->modules();
  Kinds out(modules.size());
  for (size_t i = modules.size(); i-- > 0;) {
    auto key = own(i);
    for (const auto* child : modules[i]->children)
      key += '\n' + std::string(child->name) + '=' + std::to_string(out[child->index]);
    out[i] = names[std::move(key)];
  }
  return out;
}

class Matcher {
 public:
  Matcher(const Report& before, const Report& after)
      : before_(before),
        after_(after),
        matches_{std::vector<size_t>(count(before), kNoModule),
                 std::vector<size_t>(count(after), kNoModule)} {
    const auto whole = [](const Report& r) {
      return [&r](size_t i) { return own_definition(r, i); };
    };
    const auto type = [](const Report& r) {
      return [&r](size_t i) { return std::string(short_type(r.graph->modules()[i]->type)); };
    };
    Names definitions, skeletons;
    definitions_ = {kinds(before, definitions, whole(before)),
                    kinds(after, definitions, whole(after))};
    skeletons_ = {kinds(before, skeletons, type(before)), kinds(after, skeletons, type(after))};
  }

  Matches run() {
    match(0, 0);
    match_children();
    match_moved();
    return std::move(matches_);
  }

 private:
  struct Sides {
    Kinds before, after;
  };
  using Modules = std::vector<const Module*>;

  static size_t count(const Report& r) { return r.graph->modules().size(); }
  const Module& before(size_t i) const { return *before_.graph->modules()[i]; }
  const Module& after(size_t i) const { return *after_.graph->modules()[i]; }

  void match(size_t a, size_t b) {
    matches_.of_before[a] = b;
    matches_.of_after[b] = a;
    pending_.emplace_back(a, b);
  }

  /// Matches the children of matched modules.
  void match_children() {
    while (!pending_.empty()) {
      const auto [a, b] = pending_.front();
      pending_.pop_front();
      match_by_name(before(a), after(b));
      match_similar(left(before(a).children, matches_.of_before),
                    left(after(b).children, matches_.of_after), definitions_, false);
      match_similar(left(before(a).children, matches_.of_before),
                    left(after(b).children, matches_.of_after), skeletons_, true);
    }
  }

  void match_by_name(const Module& a, const Module& b) {
    std::unordered_map<std::string_view, const Module*, TextHash> names;
    for (const auto* child : b.children)
      if (matches_.of_after[child->index] == kNoModule) names.try_emplace(child->name, child);
    for (const auto* child : a.children) {
      if (matches_.of_before[child->index] != kNoModule) continue;
      const auto it = names.find(child->name);
      if (it == names.end()) continue;
      match(child->index, it->second->index);
      names.erase(it);
    }
  }

  static Modules left(const std::vector<Module*>& all, const std::vector<size_t>& matched) {
    Modules out;
    for (const auto* m : all)
      if (matched[m->index] == kNoModule) out.push_back(m);
    return out;
  }

  /// Matches modules of one kind in order. `only`: only kinds with one module on either side.
  void match_similar(const Modules& a, const Modules& b, const Sides& kinds, bool only) {
    struct Group {
      std::deque<size_t> before, after;
    };
    std::unordered_map<size_t, Group> groups;
    std::vector<size_t> order;
    for (const auto* m : b) groups[kinds.after[m->index]].after.push_back(m->index);
    for (const auto* m : a) {
      groups[kinds.before[m->index]].before.push_back(m->index);
      order.push_back(kinds.before[m->index]);
    }
    for (const auto kind : order) {
      auto& g = groups[kind];
      if (g.before.empty() || g.after.empty()) continue;
      if (only && (g.before.size() > 1 || g.after.size() > 1)) continue;
      match(g.before.front(), g.after.front());
      g.before.pop_front();
      g.after.pop_front();
    }
  }

  /// Matches whole modules with tensors anywhere in the tree, outer ones first: DataParallel puts a
  /// wrapper around the model.
  void match_moved() {
    std::unordered_map<size_t, std::deque<size_t>> there;
    for (size_t b = 0; b < count(after_); ++b)
      if (matches_.of_after[b] == kNoModule) there[definitions_.after[b]].push_back(b);
    const auto holds = tensors_inside();
    for (size_t a = 0; a < count(before_); ++a) {
      if (matches_.of_before[a] != kNoModule || !holds[a]) continue;
      auto& candidates = there[definitions_.before[a]];
      while (!candidates.empty() && matches_.of_after[candidates.front()] != kNoModule)
        candidates.pop_front();
      if (candidates.empty()) continue;
      match(a, candidates.front());
      match_children();
    }
    match_without_tensors();
  }

  /// Matches modules without tensors, such as an activation between layers, whose siblings all
  /// moved into one module.
  void match_without_tensors() {
    for (size_t p = 0; p < count(before_); ++p) {
      const auto gone = left(before(p).children, matches_.of_before);
      const auto* there = gone.empty() ? nullptr : common_parent_of(before(p).children);
      if (!there) continue;
      std::unordered_map<std::string_view, size_t, TextHash> names;
      for (const auto* child : left(there->children, matches_.of_after))
        names.try_emplace(child->name, child->index);
      for (const auto* m : gone) {
        const auto it = names.find(m->name);
        if (it == names.end() || definitions_.after[it->second] != definitions_.before[m->index])
          continue;
        match(m->index, it->second);
        names.erase(it);
      }
      match_children();
    }
  }

  /// The common parent in B of all matched children, or null.
  const Module* common_parent_of(const std::vector<Module*>& children) const {
    const Module* home = nullptr;
    for (const auto* child : children) {
      const auto b = matches_.of_before[child->index];
      if (b == kNoModule) continue;
      if (home && home != after(b).parent) return nullptr;
      home = after(b).parent;
    }
    return home;
  }

  std::vector<bool> tensors_inside() const {
    std::vector<bool> holds(count(before_));
    for (size_t i = holds.size(); i-- > 0;) {
      holds[i] = holds[i] || !before(i).tensors.empty();
      if (holds[i] && before(i).parent) holds[before(i).parent->index] = true;
    }
    return holds;
  }

  const Report &before_, &after_;
  Sides definitions_, skeletons_;
  Matches matches_;
  std::deque<std::pair<size_t, size_t>> pending_;
};

}  // namespace

std::string_view short_type(std::string_view type) {
  const auto dot = type.rfind('.');
  return dot == type.npos ? type : type.substr(dot + 1);
}

std::string own_definition(const Report& report, size_t module) {
  const auto& m = *report.graph->modules()[module];
  std::string text(short_type(m.type));
  text += '\n' + std::string(report.module_descriptions().text("text", module));
  for (const auto* t : m.tensors) {
    text +=
        '\n' + std::string(t->name.substr(t->name.rfind('.') + 1)) + ':' + std::to_string(t->dtype);
    for (const auto d : t->dims) text += ',' + std::to_string(d);
  }
  return text;
}

Matches match_modules(const Report& before, const Report& after) {
  return Matcher(before, after).run();
}

}  // namespace tmeter::core
