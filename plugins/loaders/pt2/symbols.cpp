#include "symbols.hpp"

#include <algorithm>

namespace pt2 {
namespace {

constexpr std::string_view kAdvice =
    "export it again with a newer torch or with fixed sizes, or report this to tmeter";

/// The text for a message, without the assumptions that make it hard to read.
std::string readable(std::string_view text) {
  constexpr size_t kMaxBytes = 1000;  // more than a message shows
  constexpr std::string_view kNoise[] = {", positive=True", ", integer=True", ", precision=53"};
  std::string out;
  while (!text.empty() && out.size() < kMaxBytes) {
    const auto* noise =
        std::ranges::find_if(kNoise, [&](std::string_view n) { return text.starts_with(n); });
    if (noise == std::end(kNoise)) out += text.front();
    text.remove_prefix(noise == std::end(kNoise) ? 1 : noise->size());
  }
  return in_quotes(out);
}

bool is_symbol_name(std::string_view s) {
  return !s.empty() && (s[0] < '0' || s[0] > '9') && std::ranges::all_of(s, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  });
}

/// Bounds are integers or null. Infinity has several spellings, all of which mean no bound.
int64_t bound_or(json::object range, std::string_view key, int64_t fallback) {
  const auto value = find_set(range, key);
  int64_t n = 0;
  return value && value->get(n) == simdjson::SUCCESS ? n : fallback;
}

std::optional<int64_t> integer_hint(json::object expr) {
  const auto hint = find_set(expr, "hint");
  if (!hint) return std::nullopt;
  const auto tagged = as_tagged(*hint);
  if (tagged.kind == "as_int") return as_integer(tagged.value);
  if (tagged.kind == "as_bool") return as_bool(tagged.value);
  return std::nullopt;
}

}  // namespace

void Symbols::read_ranges(json::object ranges) {
  for (const auto [name, value] : ranges) {
    if (!is_symbol_name(name)) continue;  // "2*s85": a range of an expression of s85
    within([&, n = name] { return "range_constraints " + in_quotes(n); },
           [&, n = name, v = value] {
             auto& symbol = symbols_[symbol_index(n)];
             symbol.min = bound_or(as_object(v), "min_val", INT64_MIN);
             symbol.max = bound_or(as_object(v), "max_val", INT64_MAX);
             if (symbol.min > symbol.max) throw BadFile("the range is empty");
           });
  }
}

size_t Symbols::symbol_index(std::string_view name) {
  const auto [it, added] = names_.try_emplace(name, symbols_.size());
  if (added) symbols_.emplace_back().name = name;
  return it->second;
}

Symbols::Entry& Symbols::entry_of_text(std::string_view text) {
  const auto at = entries_.find(text);
  if (at != entries_.end()) return at->second;
  text = kept_.keep(text);
  Entry& entry = entries_[text];
  try {
    entry.expr = Expr::parse(text);
    for (const auto name : entry.expr->symbols()) entry.symbols.push_back(symbol_index(name));
  } catch (const ExprError& e) {
    entry.problem = e.what();
  }
  return entry;
}

Symbols::Entry* Symbols::entry_of(json::element size) {
  const auto tagged = as_tagged(size);
  if (tagged.kind != "as_expr") return nullptr;
  const auto object = as_object(tagged.value);
  Entry& entry = entry_of_text(text_member(object, "expr_str"));
  if (!entry.hint) entry.hint = integer_hint(object);
  if (entry.hint && entry.expr && entry.expr->is_symbol()) {
    auto& symbol = symbols_[entry.symbols[0]];
    if (!symbol.value) symbol.value = symbol.recorded = entry.hint;
  }
  return &entry;
}

void Symbols::collect(json::element size) { entry_of(size); }

namespace {

int64_t plain_value(json::element size) {
  const auto tagged = as_tagged(size);
  if (tagged.kind == "as_int") return as_integer(tagged.value);
  if (tagged.kind == "as_bool") return as_bool(tagged.value);
  throw BadFile("expected as_int or as_expr, found " + in_quotes(tagged.kind));
}

}  // namespace

tmeter_dim Symbols::dim(json::element size) {
  Entry* entry = entry_of(size);
  if (!entry) return {plain_value(size), 0, 0};
  if (!entry->id && !entry->is_constant)
    push(text_member(as_object(as_tagged(size).value), "expr_str"), *entry);
  return {entry->constant, entry->id, 0};
}

int64_t Symbols::value(json::element size) { return dim(size).value; }

std::optional<int64_t> Symbols::hint(json::element size) {
  const auto* entry = entry_of(size);
  return entry ? entry->hint : plain_value(size);
}

std::optional<int64_t> Symbols::recorded_value(json::element size) {
  const int64_t now = value(size);
  const Entry* entry = entry_of(size);
  const auto guessed = [&](size_t s) { return symbols_[s].guessed; };
  return entry && std::ranges::any_of(entry->symbols, guessed) ? std::nullopt : std::optional(now);
}

std::optional<Expr::Ratio> Symbols::evaluate(Entry& entry) {
  std::vector<int64_t> values;
  for (const size_t s : entry.symbols) values.push_back(value_of(s));
  return entry.expr->evaluate(values);
}

/// Leaves the value under the present sizes in `constant`, and the expression, if it can follow
/// other sizes, in `id`.
void Symbols::push(std::string_view text, Entry& entry) {
  std::string problem = entry.problem;
  if (entry.expr) {
    const auto now = evaluate(entry);
    const bool exact = now && now->den == 1;
    const bool at_hint =
        std::ranges::none_of(entry.symbols, [&](size_t i) { return symbols_[i].fixed; });
    const bool agrees =
        !entry.expr->is_rounded() || !entry.hint || !at_hint || (exact && *entry.hint == now->num);
    if (!exact)
      problem = "it is not a 64-bit integer for these sizes";
    else if (!agrees)
      problem = "torch rounds in floating point";
    else
      entry.constant = now->num;
  }
  if (!problem.empty()) {
    if (!entry.hint)
      throw BadFile("the size " + readable(text) + " cannot be computed: " + problem,
                    std::string(kAdvice));
    entry.constant = *entry.hint;
    notes_.warn("sizes kept at their recorded values",
                "the size " + readable(text) + " cannot be computed (" + problem +
                    "): kept at its recorded value " + std::to_string(*entry.hint) +
                    " regardless of the values of symbols");
  }
  entry.is_constant = !problem.empty() || entry.symbols.empty();
  if (entry.is_constant) return;
  if (entry.expr->is_rounded() && rounded_.empty()) rounded_ = readable(text);
  std::vector<tmeter_dim> sizes;
  for (const auto s : entry.symbols) sizes.push_back({0, symbol_expr(s), 0});
  entry.id = made(*entry.expr, sizes);
}

tmeter_id Symbols::made(const Expr& expr, const std::vector<tmeter_dim>& sizes) {
  std::vector<tmeter_id> ids;
  for (const auto& node : expr.nodes()) {
    std::vector<tmeter_id> operands;
    for (const auto r : expr.operands(node)) operands.push_back(ids[r]);
    if (node.op == Expr::kInteger) {
      ids.push_back(builder_.expr_int(node.value));
    } else if (node.op == Expr::kSymbol) {
      const auto& size = sizes[static_cast<size_t>(node.value)];
      ids.push_back(size.expr ? size.expr : builder_.expr_int(size.value));
    } else {
      ids.push_back(builder_.expr(node.op, operands));
    }
  }
  const tmeter_id num = ids[expr.num()];
  return expr.is_whole() ? num : builder_.expr(TMETER_EXPR_TRUEDIV, {num, ids[expr.den()]});
}

tmeter_id Symbols::as_recorded() {
  std::vector<tmeter_id> same;
  constexpr size_t kMaxSymbols = 1000;  // operands of one expression
  for (size_t i = 0; i < symbols_.size() && same.size() < kMaxSymbols; ++i) {
    if (!symbols_[i].recorded) continue;
    const auto recorded = builder_.expr_int(*symbols_[i].recorded);
    same.push_back(builder_.expr(TMETER_EXPR_EQ, {symbol_expr(i), recorded}));
  }
  return same.empty() ? 0 : builder_.expr(TMETER_EXPR_MIN, same);
}

tmeter_id Symbols::symbol_expr(size_t index) {
  const int64_t value = value_of(index);
  auto& s = symbols_[index];
  if (!s.expr) {
    // A size from an input may be below the range (`solve`); a recorded size defines it.
    const auto min = s.fixed ? s.min : std::min(s.min, value);
    const auto id = builder_.symbol(s.name, min, std::max(s.max, value), value);
    s.expr = builder_.expr_symbol(id);
  }
  return s.expr;
}

int64_t Symbols::value_of(size_t index) {
  if (!symbols_[index].value) {
    auto found = from_hints(index);
    auto& s = symbols_[index];
    if (!found) {
      // The upper bound, as in the TorchScript backend. Without one, at least 2: sizes 0 and 1 are
      // special to torch (empty tensors, broadcasting).
      constexpr int64_t kNoBound = int64_t{1} << 40;
      found = s.max < kNoBound ? s.max : std::max<int64_t>(s.min, 2);
      s.guessed = true;
    }
    s.value = found;
  }
  return *symbols_[index].value;
}

std::optional<int64_t> Symbols::from_hints(size_t symbol) {
  for (const auto& [text, entry] : entries_) {
    budget_ -= 1 + static_cast<int64_t>(entry.symbols.size());
    if (budget_ < 0) return std::nullopt;
    if (!entry.expr || !entry.hint) continue;
    const auto others_known = std::ranges::all_of(
        entry.symbols, [&](size_t s) { return s == symbol || symbols_[s].value; });
    const bool has_it = std::ranges::find(entry.symbols, symbol) != entry.symbols.end();
    if (!has_it || !others_known) continue;
    if (const auto v =
            solve(entry, symbol, *entry.hint, std::max<int64_t>(symbols_[symbol].min, 0)))
      return v;
  }
  return std::nullopt;
}

/// The value of `symbol` that makes the expression `target`. Bisects, since sizes grow with their
/// symbols. If that fails, tries the first few values.
std::optional<int64_t> Symbols::solve(const Entry& entry, size_t symbol, int64_t target,
                                      int64_t least) {
  std::vector<int64_t> values;
  size_t slot = 0;
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    if (entry.symbols[i] == symbol) slot = i;
    values.push_back(symbols_[entry.symbols[i]].value.value_or(0));
  }
  const auto at = [&](int64_t v) {
    budget_ -= static_cast<int64_t>(entry.expr->nodes().size());
    values[slot] = v;
    return entry.expr->evaluate(values);
  };
  const auto hits = [&](int64_t v) {
    const auto r = at(v);
    return r && r->den == 1 && r->num == target;
  };
  int64_t low = least, high = std::min(symbols_[symbol].max, int64_t{1} << 40);
  while (low < high && budget_ > 0) {
    const int64_t middle = low + (high - low) / 2;
    const auto r = at(middle);  // none means overflow, so it is too large
    if (r && r->num / r->den < target)
      low = middle + 1;
    else
      high = middle;
  }
  if (hits(low)) return low;
  constexpr int64_t kTried = 1024;
  for (int64_t v = least; v < least + kTried && v <= symbols_[symbol].max && budget_ > 0; ++v)
    if (hits(v)) return v;
  return std::nullopt;
}

std::string Symbols::fix(json::element size, int64_t target, const std::string& place) {
  Entry* entry = entry_of(size);
  if (!entry || !entry->expr || entry->symbols.size() != 1)
    return "cannot be set directly; use --bind with the symbols it is computed from";
  auto& s = symbols_[entry->symbols[0]];
  // Torch allows 0 and 1 at run time, unless the range begins above 2 (core/ir/expressions.hpp).
  const auto solution = solve(*entry, entry->symbols[0], target, s.min > 2 ? s.min : 0);
  if (!solution) {
    std::string range = std::to_string(s.min) + " … ";
    range += s.max == INT64_MAX ? "any" : std::to_string(s.max);
    return "cannot be " + std::to_string(target) + ": it is " +
           std::string(entry->expr->is_symbol() ? "the symbol " : "computed from the symbol ") +
           shown(s.name) + ", which the file allows to be " + range;
  }
  if (s.fixed && s.value != solution)
    return "needs " + shown(s.name) + "=" + std::to_string(*solution) + ", but " + s.fixed_by +
           " needs " + std::to_string(*s.value);
  s.value = solution;
  s.fixed_by = place;
  s.fixed = true;
  return "";
}

std::optional<double> Symbols::real(json::element number) {
  const auto tagged = as_tagged(number);
  if (tagged.kind != "as_expr") return as<double>(tagged.value, "a number");
  const auto object = as_object(tagged.value);
  Entry& entry = entry_of_text(text_member(object, "expr_str"));
  const auto has_value = [&](size_t s) { return symbols_[s].value.has_value(); };
  if (entry.expr && std::ranges::all_of(entry.symbols, has_value)) {
    if (const auto r = evaluate(entry))
      return static_cast<double>(r->num) / static_cast<double>(r->den);
  }
  const auto hint = find_set(object, "hint");
  if (!hint) return std::nullopt;
  const auto tagged_hint = as_tagged(*hint);
  return as<double>(tagged_hint.value, "a number");
}

void Symbols::report() {
  if (!rounded_.empty())
    notes_.warn("", "sizes like " + rounded_ +
                        " are computed with exact fractions; torch uses floating point, so for "
                        "sizes other than the recorded ones they may differ by one");
  std::string names;
  for (const auto& s : symbols_)
    if (s.guessed && s.expr) names.append(names.empty() ? "" : " ").append(s.name);
  if (!names.empty()) builder_.property("assumed.symbols", names);
}

}  // namespace pt2
