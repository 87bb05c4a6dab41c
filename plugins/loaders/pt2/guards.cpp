#include "guards.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "symbols.hpp"

namespace pt2 {
namespace {

// Guards beyond these limits are not read.
constexpr size_t kMaxGuards = 4'000, kMaxGuardBytes = size_t{4} << 20, kMaxGuardNodes = 200'000;

/// The input or size that a guard means: "L['x']['key'].size()[1]".
struct GuardSource {
  std::string input;          // the input's name in the graph
  std::optional<size_t> dim;  // none: the input is a number
};

bool take_text(std::string_view& text, std::string_view token) {
  const bool found = text.starts_with(token);
  if (found) text.remove_prefix(token.size());
  return found;
}

std::optional<size_t> take_digits(std::string_view& text) {
  size_t value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (r.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(r.ptr - text.data()));
  return value;
}

/// torch's name of a graph input: the path to a tensor in its argument, joined by "_".
std::string graph_name(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    const bool is_kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    out += is_kept ? lower : '_';
  }
  return out;
}

/// The name of the argument at `position`, constants included.
std::string flat_input(size_t position, const Signature& signature) {
  for (const auto& input : signature.inputs) {
    if (input.kind != InputSpec::Kind::kUser && input.kind != InputSpec::Kind::kConstant) continue;
    if (position-- == 0) return std::string(input.name);
  }
  return "";
}

/// None if the text is neither a number nor the size of a tensor.
std::optional<GuardSource> parse_guard_source(std::string_view text, const Signature& signature) {
  GuardSource out;
  take_text(text, "L");
  if (take_text(text, "['flat_args'][")) {  // of a strict export
    const auto position = take_digits(text);
    if (!position || !take_text(text, "]")) return std::nullopt;
    out.input = flat_input(*position, signature);
  }
  while (!text.empty() && !text.starts_with(".size()[")) {
    const bool is_quoted = text.starts_with("['") || text.starts_with("[\"");
    const bool is_attribute = text.front() == '.';
    const size_t begin = is_quoted ? 2 : 1;
    const auto end = is_quoted      ? text.find(text[1], 2)
                     : is_attribute ? std::min(text.find_first_of(".[", 1), text.size())
                                    : text.find(']');
    if (end == text.npos || end < begin) return std::nullopt;
    out.input += (out.input.empty() ? "" : "_") + graph_name(text.substr(begin, end - begin));
    text.remove_prefix(end);
    if (is_quoted) text.remove_prefix(1);
    if (!is_attribute && !take_text(text, "]")) return std::nullopt;
  }
  if (take_text(text, ".size()[")) {
    out.dim = take_digits(text);
    if (!out.dim || !take_text(text, "]")) return std::nullopt;
  }
  return text.empty() ? std::optional(out) : std::nullopt;
}

/// The text of a condition, with the names that --input takes: "x.size()[0]".
std::string with_name(std::string_view text, std::string_view source, const std::string& name) {
  std::string out;
  while (!text.empty()) {
    const auto at = std::min(text.find(source), text.size());
    out += text.substr(0, at);
    if (at < text.size()) out += name;
    text.remove_prefix(std::min(at + source.size(), text.size()));
  }
  return out;
}

class GuardReader {
 public:
  GuardReader(const Signature& signature, const Scope& scope, Building& building)
      : signature_(signature), scope_(scope), building_(building) {}

  void add(std::string_view text) {
    if (!seen_.insert(text).second) return;
    bytes_ += text.size();
    if (seen_.size() > kMaxGuards || bytes_ > kMaxGuardBytes || !read(text)) {
      if (unread_++ == 0) first_unread_ = text;
    }
  }

  void finish() {
    if (unread_ == 0) return;
    const auto condition = building_.symbols.as_recorded();
    if (condition == 0) return;
    constexpr size_t kShown = 80;
    auto text = std::string(first_unread_.substr(0, kShown));
    if (first_unread_.size() > kShown) text += "…";
    if (unread_ > 1) text += " and " + std::to_string(unread_ - 1) + " more";
    building_.graph.condition(
        condition, text + " (not understood; assumed to hold for the recorded sizes only)");
  }

 private:
  /// The size, valid until the next call; none if there is no such input.
  std::optional<json::element> size_of(const GuardSource& source) const {
    const bool is_input = std::ranges::any_of(signature_.inputs, [&](const InputSpec& input) {
      return input.kind == InputSpec::Kind::kUser && input.name == source.input;
    });
    if (!is_input) return std::nullopt;
    if (!source.dim) return scope_.size_meta(source.input);
    if (scope_.size_meta(source.input)) return std::nullopt;
    const auto sizes = array_member(scope_.tensor_meta(source.input), "sizes");
    if (*source.dim >= sizes.size()) return std::nullopt;
    return sizes.at(*source.dim).value();
  }

  bool read(std::string_view text) {
    try {
      const auto expr = Expr::parse(text);
      nodes_ += expr.nodes().size();
      return nodes_ <= kMaxGuardNodes && read(text, expr);
    } catch (const ExprError&) {
      return false;
    }
  }

  bool read(std::string_view text, const Expr& expr) {
    std::string shown(text);
    std::vector<tmeter_dim> sizes;
    std::vector<int64_t> recorded;
    for (const auto name : expr.symbols()) {
      const auto source = parse_guard_source(name, signature_);
      const auto size = source ? size_of(*source) : std::nullopt;
      const auto hint = size ? building_.symbols.hint(*size) : std::nullopt;
      if (!hint) return false;
      recorded.push_back(*hint);
      sizes.push_back(building_.symbols.dim(*size));
      const auto dim = source->dim ? ".size()[" + std::to_string(*source->dim) + "]" : "";
      if (shown.size() <= kMaxShownGuard) shown = with_name(shown, name, source->input + dim);
    }
    // This detects an input that was mistaken for another.
    const auto then = expr.evaluate(recorded);
    if (!then || then->num != then->den) return false;
    if (std::ranges::all_of(sizes, [](const tmeter_dim& d) { return d.expr == 0; })) return true;
    building_.graph.condition(building_.symbols.made(expr, sizes), shown);
    return true;
  }

  static constexpr size_t kMaxShownGuard = 4096;
  const Signature& signature_;
  const Scope& scope_;
  Building& building_;
  std::set<std::string_view> seen_;
  std::string_view first_unread_;
  size_t bytes_ = 0, nodes_ = 0, unread_ = 0;
};

}  // namespace

void read_guards(json::array guards, const Signature& signature, const Scope& scope,
                 Building& building) {
  GuardReader reader(signature, scope, building);
  for (const json::element guard : guards) reader.add(as_text(guard));
  reader.finish();
}

void add_assertion(json::element condition, const Scope& scope, Building& building) {
  const auto tagged = as_tagged(condition);
  if (tagged.kind != "as_sym_bool") return;
  const auto name = as_tagged(tagged.value);
  if (name.kind != "as_name") return;
  const auto size = scope.size_meta(as_text(name.value));
  if (!size || Symbols::is_fixed(*size)) return;
  if (const auto id = building.symbols.dim(*size).expr) building.graph.condition(id, {});
}

}  // namespace pt2
