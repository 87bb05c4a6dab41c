#include "torchscript/load/foreign_calls.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

namespace tmeter::torch_backend {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string_view name_at(std::string_view text) {
  return text.substr(
      0, static_cast<size_t>(std::find_if_not(text.begin(), text.end(), in_name) - text.begin()));
}

/// The arguments between "(" and its ")", separated at the outermost commas.
std::vector<std::string_view> arguments_at(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  char quote = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    const bool closes = c == ')' || c == ']' || c == '}';
    if (depth == 0 && (c == ',' || closes)) {
      const auto part = text.substr(begin, i - begin);
      if (part.find_first_not_of(" \n") != std::string_view::npos) out.push_back(part);
      begin = i + 1;
      if (closes) break;
    }
    depth += c == '(' || c == '[' || c == '{' ? 1 : closes ? -1 : 0;
  }
  return out;
}

/// "fast" of " fast=True"; empty for an argument by position.
std::string_view keyword_of(std::string_view argument) {
  while (argument.starts_with(' ') || argument.starts_with('\n')) argument.remove_prefix(1);
  const auto name = name_at(argument);
  const auto rest = argument.substr(name.size());
  return !name.empty() && rest.starts_with('=') && !rest.starts_with("==") ? name
                                                                           : std::string_view();
}

/// The targets of an assignment whose value is only this call: "a, b = ops.…" unpacks several
/// results, "a, b, = ops.…" the items of a list.
struct Targets {
  std::vector<std::string> names;
  bool unpacks_list = false;
};
Targets targets_before(std::string_view text, size_t call) {
  const auto line = text.rfind('\n', call);
  auto head = text.substr(line == std::string_view::npos ? 0 : line + 1);
  head = head.substr(0, call - (line == std::string_view::npos ? 0 : line + 1));
  if (!head.ends_with(" = ")) return {};
  Targets out;
  std::string name;
  for (const char c : head.substr(0, head.size() - 3)) {
    if (in_name(c)) {
      name += c;
    } else if (c == ',') {
      out.names.push_back(std::exchange(name, {}));
    } else if (c != ' ') {
      return {};
    }
  }
  out.unpacks_list = name.empty() && !out.names.empty();
  if (!name.empty()) out.names.push_back(name);
  return out;
}

/// Whether the same function later uses the variable as a list of tensors.
bool used_as_list(std::string_view text, size_t from, const std::string& variable) {
  const auto body = text.substr(from, text.find("\n  def ", from) - from);
  for (const std::string use : {"torch.cat(", "torch.stack(", ", = "}) {
    const auto at = body.find(use + variable);
    const auto end = at + use.size() + variable.size();
    if (at != std::string_view::npos && (end >= body.size() || !in_name(body[end]))) return true;
  }
  return false;
}

void add_call(std::string_view text, size_t call, size_t open, ForeignCall& out) {
  size_t by_position = 0;
  for (const auto argument : arguments_at(text.substr(open + 1))) {
    const auto keyword = keyword_of(argument);
    if (keyword.empty())
      ++by_position;
    else
      out.keywords.emplace(keyword);
  }
  out.arguments = std::max(out.arguments, by_position);
  const auto targets = targets_before(text, call);
  if (targets.unpacks_list) {
    out.list_length = std::max(out.list_length, targets.names.size());
  } else {
    out.results = std::max(out.results, targets.names.size());
    const bool one = targets.names.size() == 1;
    if (one && used_as_list(text, open, targets.names[0])) {
      out.list_length = std::max<size_t>(out.list_length, 1);
    }
  }
}

/// "acme::norm" of "acme.norm(" and the place of its "("; empty if the text is not such a call.
struct Callee {
  std::string op;
  size_t open = 0;
};
std::optional<Callee> callee_at(std::string_view text, size_t at, std::string_view prefix) {
  std::string space = "aten";
  size_t name_begin = at + prefix.size();
  if (prefix == "ops.") {
    space = name_at(text.substr(name_begin));
    name_begin += space.size() + 1;
    if (space.empty() || name_begin > text.size() || text[name_begin - 1] != '.')
      return std::nullopt;
  }
  const auto name = name_at(text.substr(name_begin));
  const auto open = name_begin + name.size();
  if (name.empty() || open >= text.size() || text[open] != '(') return std::nullopt;
  return Callee{space + "::" + std::string(name), open};
}

void find_calls(std::string_view text, std::string_view prefix,
                const std::function<bool(const std::string&)>& is_known, ForeignCalls& found) {
  for (size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    if (at > 0 && (in_name(text[at - 1]) || text[at - 1] == '.')) continue;
    const auto callee = callee_at(text, at, prefix);
    if (callee && !is_known(callee->op)) add_call(text, at, callee->open, found[callee->op]);
  }
}

}  // namespace

void find_foreign_calls(std::string_view text,
                        const std::function<bool(const std::string&)>& is_known,
                        ForeignCalls& found) {
  find_calls(text, "ops.", is_known, found);
  find_calls(text, "torch.", is_known, found);
}

}  // namespace tmeter::torch_backend
