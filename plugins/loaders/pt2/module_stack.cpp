#include "module_stack.hpp"

#include <algorithm>
#include <array>

namespace pt2 {
namespace {

constexpr int kDeepestGetattr = 64;  // one per level of the module tree at most
constexpr std::string_view kExportRoot = "_export_root";
constexpr std::string_view kNoStack = "_empty_nn_module_stack_from_metadata_hook";

bool is_all_digits(std::string_view s) {
  return !s.empty() && std::ranges::all_of(s, [](char c) { return c >= '0' && c <= '9'; });
}

/// A Python expression that names a module: L['self'].blk[0], getattr(L['self'].blk, '0').conv
class SourcePath {
 public:
  explicit SourcePath(std::string_view text) : text_(text) {}

  std::optional<std::string> read() {
    if (!base(0) || !suffixes() || at_ != text_.size()) return std::nullopt;
    return path_;
  }

 private:
  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string_view until(std::string_view ends) {
    const size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
    const auto found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }
  bool add(std::string_view name) {
    if (name.empty()) return false;
    if (name == "_modules") return true;  // layers._modules['0'] is layers.0
    if (!path_.empty()) path_ += '.';
    path_ += name;
    return true;
  }
  bool quoted_name() {
    if (!take("'")) return false;
    const auto name = until("'");
    return take("'") && add(name);
  }

  bool base(int depth) {
    if (depth > kDeepestGetattr) return false;
    if (take("getattr("))
      return base(depth + 1) && suffixes() && take(", ") && quoted_name() && take(")");
    if (take(kExportRoot)) return true;
    if (!take("L['")) return false;
    until("'");
    return take("']");
  }

  bool suffixes() {
    while (true) {
      if (take(".")) {
        if (!add(until(".[,)"))) return false;
      } else if (take("[")) {
        if (!bracketed()) return false;
      } else {
        return true;
      }
    }
  }

  bool bracketed() {
    if (text_.substr(at_).starts_with("'")) return quoted_name() && take("]");
    const auto index = until("]");
    return is_all_digits(index) && take("]") && add(index);
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string path_;
};

/// `key,path,type`; commas inside brackets do not separate (getattr(x, 'y'), Generic[a, b]).
bool split_entry(std::string_view item, std::array<std::string_view, 3>& parts) {
  size_t start = 0, part = 0;
  int depth = 0;
  for (size_t i = 0; i < item.size(); ++i) {
    const char c = item[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ',' || depth != 0) continue;
    if (part == 2) return false;
    parts[part++] = item.substr(start, i - start);
    start = i + 1;
  }
  parts[part] = item.substr(start);
  return part == 2;
}

}  // namespace

std::optional<std::string> module_path(std::string_view recorded) {
  const bool is_source = recorded.starts_with("L[") || recorded.starts_with("getattr(") ||
                         recorded == kExportRoot ||
                         recorded.starts_with(std::string(kExportRoot) + ".");
  if (is_source) return SourcePath(recorded).read();
  return std::string(recorded);
}

std::string_view without_call_number(std::string_view path) {
  const size_t at = path.rfind('@');
  return at != std::string_view::npos && is_all_digits(path.substr(at + 1)) ? path.substr(0, at)
                                                                            : path;
}

StackText split_module_stack(std::string_view stack) {
  const size_t end = stack.find(';');
  if (end == std::string_view::npos) return {stack, {}};
  return {stack.substr(0, end), stack.substr(end + 1)};
}

std::optional<StackEntry> parse_stack_entry(std::string_view entry) {
  std::array<std::string_view, 3> parts;
  if (!split_entry(entry, parts)) return std::nullopt;
  if (parts[0] == kNoStack) return StackEntry{parts[0], {}, {}, false};
  auto path = module_path(parts[1]);
  if (!path) return std::nullopt;
  return StackEntry{parts[0], std::move(*path), parts[2]};
}

}  // namespace pt2
