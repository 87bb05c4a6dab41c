#include "node_view.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pt2 {
namespace {

constexpr std::string_view kOps = "torch.ops.";

std::string join(std::string_view space, std::string_view name) {
  return std::string(space) + "::" + std::string(name);
}

Target torch_op(std::string_view rest) {
  const size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return {join("torch.ops", rest), {}};
  const auto space = rest.substr(0, dot);
  auto name = rest.substr(dot + 1);
  std::string_view overload;
  const size_t last = name.rfind('.');
  if (last != std::string_view::npos) {  // higher-order operators have no overloads
    overload = name.substr(last + 1);
    name = name.substr(0, last);
  }
  if (overload == "default") overload = {};
  return {join(space, name), overload};
}

}  // namespace

Target parse_target(std::string_view text) {
  if (text.starts_with(kOps)) return torch_op(text.substr(kOps.size()));
  if (text.starts_with('#')) {
    const size_t colon = text.find(':');
    if (colon != std::string_view::npos)
      return {join(text.substr(1, colon - 1), text.substr(colon + 1)), {}};
  }
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {join("python", text), {}};
  return {join(text.substr(0, dot), text.substr(dot + 1)), {}};
}

namespace {

// Frames look like `File "/x/net.py", line 12, in forward`, each followed by its source line.
constexpr std::string_view kFile = "File \"", kLine = "\", line ";

struct Frame {
  std::string_view path, line;
};

bool read_frame(std::string_view text, Frame& frame) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (!text.starts_with(kFile)) return false;
  const size_t end = text.find(kLine, kFile.size());
  if (end == std::string_view::npos) return false;
  frame.path = text.substr(kFile.size(), end - kFile.size());
  const auto rest = text.substr(end + kLine.size());
  frame.line = rest.substr(0, rest.find_first_not_of("0123456789"));
  return !frame.line.empty();
}

bool is_users(std::string_view path) {
  static constexpr std::array<std::string_view, 3> kOfTorch{"/site-packages/torch/",
                                                            "/dist-packages/torch/", "<"};
  for (const auto part : kOfTorch)
    if (path.find(part) != std::string_view::npos) return false;
  return true;
}

std::string brief(const Frame& f) {
  const size_t slash = f.path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? f.path : f.path.substr(slash + 1)) + ":" +
         std::string(f.line);
}

}  // namespace

std::string source_location(std::string_view trace) {
  // Searches backwards: the frame is nearly always one of the last two.
  Frame last{};
  while (!trace.empty()) {
    const void* newline = memrchr(trace.data(), '\n', trace.size());
    const size_t start =
        newline ? static_cast<size_t>(static_cast<const char*>(newline) - trace.data()) + 1 : 0;
    Frame frame{};
    if (read_frame(trace.substr(start), frame)) {
      if (is_users(frame.path)) return brief(frame);
      if (last.path.empty()) last = frame;
    }
    trace = trace.substr(0, start == 0 ? 0 : start - 1);
  }
  return last.path.empty() ? std::string() : brief(last);
}

std::string at_line(std::string_view trace) {
  const auto line = source_location(trace);
  return line.empty() ? "" : " at " + line;
}

namespace {

constexpr int kMaxGetattrDepth = 64;  // one per level of the module tree at most
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
    if (depth > kMaxGetattrDepth) return false;
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

namespace {

void read_metadata(json::object metadata, NodeView& v) {
  for (const auto field : metadata) {
    const bool is_stack = is(field.key, "nn_module_stack");
    if (!is_stack && !is(field.key, "stack_trace")) continue;
    (is_stack ? v.stack : v.trace) =
        within([&] { return field.key; }, [&] { return as_text(field.value); });
  }
}

void read_field(std::string_view key, json::element value, NodeView& v, int& found) {
  if (is(key, "target")) {
    v.target = as_text(value);
    found |= 1;
  } else if (is(key, "inputs")) {
    v.inputs = as_array(value);
    found |= 2;
  } else if (is(key, "outputs")) {
    v.outputs = as_array(value);
    found |= 4;
  } else if (is(key, "metadata") && !value.is_null()) {
    read_metadata(as_object(value), v);
  }
}

NodeView view_node(json::object node) {
  NodeView v;
  int found = 0;
  for (const auto field : node)
    within([&] { return field.key; }, [&] { read_field(field.key, field.value, v, found); });
  if (found != 7) throw BadFile("it lacks target, inputs or outputs");
  return v;
}

}  // namespace

std::string node_place(size_t index, std::string_view target) {
  return "nodes[" + std::to_string(index) + "]" + (target.empty() ? "" : " " + in_quotes(target));
}

NodeView view_node(json::element node, size_t number) {
  return within([&] { return node_place(number, {}); }, [&] { return view_node(as_object(node)); });
}

std::vector<NodeView> view_nodes(json::object graph) {
  std::vector<NodeView> views;
  for (const json::element node : array_member(graph, "nodes"))
    views.push_back(view_node(node, views.size()));
  return views;
}

bool is_graph(json::element argument) { return is(as_tagged(argument).kind, "as_graph"); }

json::object graph_of(json::element argument) {
  const auto tagged = as_tagged(argument);
  if (!is(tagged.kind, "as_graph"))
    throw BadFile("expected a sub-graph, found " + in_quotes(tagged.kind));
  return object_member(as_object(tagged.value), "graph");
}

}  // namespace pt2
