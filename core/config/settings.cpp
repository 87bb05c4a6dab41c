#include "core/config/settings.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "core/base/text.hpp"
#include "core/config/toml_util.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kReadableOrigin = 120;

size_t characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string scalar_text(const std::string& path, const toml::node& node) {
  if (const auto s = node.value_exact<std::string>()) return *s;
  if (const auto b = node.value_exact<bool>()) return *b ? "true" : "false";
  if (!node.is_integer() && !node.is_floating_point()) {
    toml_error(ErrorKind::kUsage, path, node.source(),
               "an option is a string, a number or true/false");
  }
  std::ostringstream out;
  if (node.is_integer()) {
    out << *node.value<int64_t>();
  } else {
    out.precision(17);
    out << *node.value<double>();
  }
  return out.str();
}

std::vector<std::string> text_list(const std::string& path, const toml::node& node) {
  std::vector<std::string> out;
  const auto* list = node.as_array();
  if (!list) toml_error(ErrorKind::kUsage, path, node.source(), "a list of strings is expected");
  for (const auto& item : *list) out.push_back(scalar_text(path, item));
  return out;
}

std::vector<std::string> hash_list(const std::string& path, const toml::node& node) {
  auto list = text_list(path, node);
  for (const auto& hash : list) {
    if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != hash.npos)
      toml_error(ErrorKind::kUsage, path, node.source(),
                 "'" + hash + "' is not a SHA-256 as sha256sum prints it");
  }
  return list;
}

/// Joins a list of scalars to one text.
std::string list_text(const std::string& path, const toml::array& list) {
  std::string out;
  for (auto item = list.begin(); item != list.end(); ++item)
    out += (item == list.begin() ? "" : ", ") + scalar_text(path, *item);
  return out;
}

Setting setting_of(const std::string& path, const toml::node& node) {
  const auto& begin = node.source().begin;
  const auto& end = node.source().end;
  Setting s{node.is_array() ? list_text(path, *node.as_array()) : scalar_text(path, node),
            path + ":" + std::to_string(begin.line) + ":" + std::to_string(begin.column),
            node.is_array()};
  // Whether the text is in one pair of quotes without escapes.
  if (node.is_string() && begin.line == end.line &&
      end.column - begin.column == characters(s.value) + 2) {
    s.file = path;
    s.line = begin.line;
    s.column = begin.column + 1;
  }
  return s;
}

/// `prefix`: start of all keys, "column.macs.".
void read_options(const std::string& path, const toml::table& table, const std::string& prefix,
                  std::map<std::string, Setting>& out) {
  for (const auto& [key, value] : table) {
    const auto name = prefix + std::string(key.str());
    if (const auto* inner = value.as_table())
      read_options(path, *inner, name + ".", out);
    else
      out[name] = setting_of(path, value);
  }
}

void read_plugin_tables(const std::string& path, const toml::node& node, Settings& settings) {
  const auto* plugins = node.as_table();
  if (!plugins)
    toml_error(ErrorKind::kUsage, path, node.source(), "[plugin.NAME] tables are expected");
  for (const auto& [name, table] : *plugins) {
    if (!table.is_table())
      toml_error(ErrorKind::kUsage, path, table.source(), "[plugin.NAME] tables are expected");
    read_options(path, *table.as_table(), {}, settings.options[std::string(name.str())]);
  }
}

}  // namespace

std::string Setting::place(size_t offset) const {
  const auto before = characters(std::string_view(value).substr(0, offset));
  if (line > 0) return file + ":" + std::to_string(line) + ":" + std::to_string(column + before);
  const auto from =
      origin.size() > kReadableOrigin ? origin.substr(0, kReadableOrigin) + "…" : origin;
  return before ? from + ", character " + std::to_string(before + 1) : from;
}

Settings read_settings(const std::string& path) {
  Settings s;
  const std::vector<std::string> keys{"plugins",       "plugin-path", "report", "hardware",
                                      "plugin-sha256", "plugin",      "budget", "full"};
  const auto doc = parse_toml_file(ErrorKind::kUsage, path);
  for (const auto& [key, node] : doc) {
    const auto k = key.str();
    if (k == "plugins") {
      s.plugins = text_list(path, node);
    } else if (k == "plugin-path") {
      s.plugin_paths = text_list(path, node);
    } else if (k == "report") {
      s.reports = text_list(path, node);
    } else if (k == "plugin-sha256") {
      s.allowed_plugins = hash_list(path, node);
    } else if (k == "full") {
      const auto full = node.value_exact<bool>();
      if (!full) toml_error(ErrorKind::kUsage, path, node.source(), "true or false is expected");
      s.full = *full;
    } else if (k == "hardware") {
      s.hardware = scalar_text(path, node);
    } else if (k == "plugin") {
      read_plugin_tables(path, node, s);
    } else if (k != "budget") {  // read by `tmeter budget` (budgets.hpp)
      toml_error(ErrorKind::kUsage, path, key.source(),
                 "unknown key '" + std::string(k) + "'" + did_you_mean(k, keys));
    }
  }
  return s;
}

void add_set_option(Settings& settings, const std::string& text) {
  const auto equals = text.find('=');
  const auto dot = text.rfind('.', equals);
  if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == equals) {
    throw Error(ErrorKind::kUsage,
                "--set " + text + ": PLUGIN.KEY=VALUE is expected, as in flops.convention=torch");
  }
  settings.options[text.substr(0, dot)][text.substr(dot + 1, equals - dot - 1)] = {
      text.substr(equals + 1), "--set " + text};
}

}  // namespace tmeter::core
