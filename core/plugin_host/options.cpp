#include "core/plugin_host/options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

template <class T>
bool parse_number(const std::string& text, T& out) {
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, out);
  return result.ec == std::errc() && result.ptr == end;
}

std::string range_text(const tmeter_option_desc& d) {
  std::string out;
  for (const double x : {d.min, d.max}) {
    auto number = std::to_string(x);
    number.erase(number.find_last_not_of('0') + 1);
    if (number.ends_with('.')) number.pop_back();
    out += (out.empty() ? "" : " … ") + number;
  }
  return out;
}

/// Why `text` is not a value of this option; empty if it is one, and `out` then has it.
std::string parse_value(const tmeter_option_desc& d, const std::string& text, OptionValue& out) {
  out.type = d.type;
  out.text = text;
  const bool bounded = d.min <= d.max;
  switch (d.type) {
    case TMETER_OPTION_INT:
      if (!parse_number(text, out.i)) return "a whole number is expected";
      out.f = static_cast<double>(out.i);
      break;
    case TMETER_OPTION_FLOAT:
      if (!parse_number(text, out.f) || !std::isfinite(out.f)) return "a number is expected";
      break;
    case TMETER_OPTION_BOOL:
      out.b = text == "true" || text == "1" || text == "yes" || text == "on";
      return out.b || text == "false" || text == "0" || text == "no" || text == "off"
                 ? ""
                 : "true or false is expected";
    case TMETER_OPTION_CHOICE: {
      const auto choices = split(str(d.choices), " ");
      for (const auto& c : choices) {
        if (c == text) return "";
      }
      return "one of these is expected: " + str(d.choices) + did_you_mean(text, choices);
    }
    default:
      return "";
  }
  if (bounded && (out.f < d.min || out.f > d.max)) return "the allowed range is " + range_text(d);
  return "";
}

/// The corrected path for a mistyped one: "column.macs.style" for pattern "column.*.style" and path
/// "column.macs.stlye".
std::string meant(std::string_view pattern, const std::string& path) {
  const auto parts = split(std::string(pattern), "."), names = split(path, ".");
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i)
    out += (i ? "." : "") + (parts[i] == "*" && i < names.size() ? names[i] : parts[i]);
  return out;
}

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c)) || c == '_' || c == '-';
  });
}

/// The index of the declaration of `path`: its own, or a pattern.
std::optional<uint32_t> find_declared(std::span<const tmeter_option_desc> declared,
                                      const std::string& path) {
  const auto names = split(path, ".");
  const bool wild = std::all_of(names.begin(), names.end(), is_name);
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < declared.size(); ++i) {
    if (view(declared[i].key) == path) return i;
    if (!found && wild && meant(view(declared[i].key), path) == path) found = i;
  }
  return found;
}

}  // namespace

GivenOptions take_tables(std::span<const tmeter_option_desc> declared,
                         const std::map<std::string, Setting>& given) {
  GivenOptions out;
  for (const auto& [path, setting] : given) {
    const auto index = find_declared(declared, path);
    if (!index) {
      out.flat[path] = setting;
      continue;
    }
    OptionValue value;
    const auto& d = declared[*index];
    auto why = parse_value(d, setting.value, value);
    if (setting.list && view(d.choices) != "list") why = "one value is expected, not a list";
    if (!why.empty()) throw Error(ErrorKind::kUsage, setting.place(0) + ": " + why);
    out.of_tables.push_back({path, *index, std::move(value), setting});
  }
  return out;
}

std::string problem_of_default(const tmeter_option_desc& option) {
  OptionValue value;
  return parse_value(option, str(option.default_value), value);
}

OptionValue option_value(const tmeter_option_desc& declared, const std::string& text,
                         const std::string& name) {
  OptionValue value;
  const auto why = parse_value(declared, text, value);
  if (!why.empty()) throw Error(ErrorKind::kUsage, name + "=" + printable(text) + ": " + why);
  return value;
}

ResolvedOptions resolve_options(const std::string& plugin,
                                std::span<const tmeter_option_desc> declared,
                                const std::map<std::string, Setting>& given,
                                std::span<const tmeter_option_desc> tables) {
  ResolvedOptions out;
  std::vector<std::string> keys;
  for (const auto& d : declared) {
    const auto key = str(d.key);
    keys.push_back(key);
    const auto it = given.find(key);
    OptionValue value;
    const auto why =
        parse_value(d, it == given.end() ? str(d.default_value) : it->second.value, value);
    if (!why.empty()) throw Error(ErrorKind::kUsage, it->second.origin + ": " + why);
    if (it != given.end() && it->second.list)
      throw Error(ErrorKind::kUsage, it->second.origin + ": one value is expected, not a list");
    out[key] = value;
  }
  for (const auto& [key, setting] : given) {
    if (out.contains(key)) continue;
    for (const auto& d : tables) keys.push_back(meant(view(d.key), key));
    throw Error(
        ErrorKind::kUsage,
        setting.place(0) + ": plugin '" + plugin + "' has no option '" + key + "'" +
            did_you_mean(key, keys) +
            (keys.empty() ? "; it has none" : ". `tmeter plugin info " + plugin + "` lists them."));
  }
  return out;
}

}  // namespace tmeter::core
