#include "core/config/budgets.hpp"

#include "core/base/quantity.hpp"
#include "core/base/small_file.hpp"
#include "core/base/text.hpp"
#include "core/config/toml_util.hpp"

namespace tmeter::core {
namespace {

std::string text_of(const std::string& path, const toml::node& node) {
  if (const auto s = node.value_exact<std::string>(); s && !s->empty()) return *s;
  toml_error(ErrorKind::kUsage, path, node.source(), "a string is expected");
}

std::vector<std::string> texts_of(const std::string& path, const toml::node& node) {
  const auto* list = node.as_array();
  if (!list) toml_error(ErrorKind::kUsage, path, node.source(), "a list of strings is expected");
  std::vector<std::string> out;
  for (const auto& item : *list) out.push_back(text_of(path, item));
  return out;
}

double slack_of(const std::string& path, const toml::node& node) {
  const auto q = parse_quantity(text_of(path, node), kShare);
  if (!q.problem.empty() || q.dimension != kShare || q.value < 0 || q.value > 10)
    toml_error(ErrorKind::kUsage, path, node.source(), "slack is a share, as in \"5%\"");
  return q.value;
}

/// The byte offset of a line and column of TOML; columns count characters.
size_t byte_of(std::string_view text, toml::source_position where) {
  size_t at = 0;
  for (toml::source_index line = 1; line < where.line; ++line) at = text.find('\n', at) + 1;
  for (toml::source_index column = 1; column < where.column; ++column) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

Budget budget_of(const std::string& path, std::string_view text, const toml::table& table) {
  Budget b;
  b.line = table.source().begin.line;
  b.place = path + ":" + std::to_string(b.line) + ":" + std::to_string(table.source().begin.column);
  for (const auto& [key, node] : table) {
    const auto k = key.str();
    if (k == "model") {
      b.model = text_of(path, node);
    } else if (k == "assert") {
      b.assertions = texts_of(path, node);
      b.begin = byte_of(text, node.source().begin);
      b.end = byte_of(text, node.source().end);
    } else if (k == "slack") {
      b.slack = slack_of(path, node);
    } else if (k == "report") {
      b.report = text_of(path, node);
    } else if (k == "input") {
      b.inputs = texts_of(path, node);
    } else if (k == "bind") {
      b.bindings = texts_of(path, node);
    } else {
      toml_error(ErrorKind::kUsage, path, key.source(),
                 "unknown key '" + std::string(k) + "'" +
                     did_you_mean(k, {"model", "assert", "slack", "report", "input", "bind"}));
    }
  }
  if (b.model.empty())
    toml_error(ErrorKind::kUsage, path, table.source(), "a budget needs `model = \"FILE\"`");
  if (b.assertions.empty())
    toml_error(ErrorKind::kUsage, path, table.source(),
               "a budget needs bounds, as in assert = [\"macs <= 5 G\"]");
  return b;
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const auto& t : texts) {
    out += out.size() > 1 ? ", \"" : "\"";
    for (const char c : t) out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    out += '"';
  }
  return out + "]";
}

}  // namespace

BudgetFile read_budgets(const std::string& path) {
  BudgetFile out;
  out.text = read_small_file(ErrorKind::kUsage, path, kMaxTomlBytes);
  const auto doc = parse_toml(ErrorKind::kUsage, out.text, path);
  const auto* node = doc.get("budget");
  if (!node)
    throw Error(ErrorKind::kUsage, path +
                                       ": there is no [[budget]]; a first one: [[budget]], model = "
                                       "\"model.pt2\", assert = [\"macs <= 5 G\"]");
  const auto* list = node->as_array();
  if (!list || list->empty() || !list->is_array_of_tables())
    toml_error(ErrorKind::kUsage, path, node->source(), "[[budget]] tables are expected");
  for (const auto& table : *list)
    out.budgets.push_back(budget_of(path, out.text, *table.as_table()));
  return out;
}

std::string with_assertions(const BudgetFile& file,
                            const std::vector<std::vector<std::string>>& lists) {
  std::string out;
  size_t at = 0;
  for (size_t i = 0; i < file.budgets.size(); ++i) {
    const auto& b = file.budgets[i];
    out += file.text.substr(at, b.begin - at) + toml_list(lists[i]);
    at = b.end;
  }
  return out + file.text.substr(at);
}

}  // namespace tmeter::core
