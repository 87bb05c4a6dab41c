#include "settings.hpp"

#include <algorithm>

#include "options.hpp"

namespace text_report {
namespace {

constexpr size_t kBuiltIn = std::numeric_limits<size_t>::max();

/// The name in place of "*" in `pattern`; empty if `path` is another option.
std::optional<std::string_view> name_in(std::string_view path, std::string_view pattern) {
  const auto star = pattern.find('*');
  const auto before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) ||
      !path.ends_with(after))
    return std::nullopt;
  const auto name = path.substr(before.size(), path.size() - before.size() - after.size());
  if (name.find('.') != name.npos) return std::nullopt;
  return name;
}

/// "column.id.style": the part between the dots.
std::string_view middle(std::string_view path) {
  const auto dot = path.find('.');
  return path.substr(dot + 1, path.rfind('.') - dot - 1);
}

bool is_level(std::string_view name) {
  constexpr size_t kDigits = 6;
  return name == "default" || name == "all" ||
         (name.size() <= kDigits &&
          std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

const Option* find_option(std::string_view path, std::string_view& name) {
  const Option* found = nullptr;
  for (const auto& o : all_options()) {
    const auto key = o.spec.key;
    if (key == path) {
      name = middle(path);
      return &o;
    }
    if (found || key.find('*') == key.npos) continue;
    if (const auto of = name_in(path, key)) {
      name = *of;
      found = &o;
    }
  }
  return found;
}

/// Copies the first setting that is present; `from` begins with the most specific.
template <class Settings, class T, class Out>
void take(std::initializer_list<const Settings*> from, std::optional<T> Settings::*member,
          Out& out) {
  for (const auto* s : from) {
    if (!s || !(s->*member)) continue;
    out = *(s->*member);
    return;
  }
}

template <class Map>
const typename Map::mapped_type* find_in(const Map& map, std::string_view name) {
  const auto it = map.find(name);
  return it == map.end() ? nullptr : &it->second;
}

}  // namespace

void Look::set(const GivenText& option, size_t given) {
  std::string_view name;
  const auto* o = find_option(option.path, name);
  if (!o) throw Mistake{0, "there is no option '" + option.path + "'"};
  if (option.path.starts_with("level.") && !is_level(name))
    throw Mistake{0, "there is no level '" + std::string(name) +
                         "'; levels are default, all and numbers from 0"};
  const auto canonical = name.empty() || name[0] < '0' || name[0] > '9'
                             ? std::string(name)
                             : std::to_string(std::stoul(std::string(name)));
  if (option.path.starts_with("level.")) name = canonical;
  if (option.path.starts_with("column.") && given != kBuiltIn) named_.emplace(name, given);
  o->set({*this, name, given}, option.text);
}

Look Look::make(const std::vector<GivenText>& given, Fail fail, IsMetric is_known) {
  Look look;
  look.fail_ = std::move(fail);
  look.is_known_metric_ = std::move(is_known);
  // The theme first, because templates depend on it.
  for (const bool theme : {true, false}) {
    for (const auto& o : all_options()) {
      if (o.spec.key.starts_with("theme.") != theme) continue;
      const auto key = o.spec.key;
      const bool any = key.find('*') != key.npos;
      o.set({look, any ? std::string_view("default") : middle(key), kBuiltIn},
            o.spec.default_value);
    }
    look.built_in_ = look.columns["default"];
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].path.starts_with("theme.") != theme) continue;
      try {
        look.set(given[i], i);
      } catch (const Mistake& m) {
        look.fail(i, m.at, m.what);
      }
    }
  }
  return look;
}

void Look::fail(size_t given, size_t at, const std::string& what) const {
  if (fail_ && given != kBuiltIn) fail_(given, at, what);
  throw tmeter::Error(TMETER_BAD_USAGE, what);
}

LevelLook Look::level(size_t depth) const {
  using S = LevelSettings;
  const auto from = {find_in(levels, "all"), find_in(levels, std::to_string(depth)),
                     find_in(levels, "default")};
  LevelLook out;
  take<S>(from, &S::label, out.label);
  take<S>(from, &S::style, out.style);
  take<S>(from, &S::guide, out.guide);
  take<S>(from, &S::highlight, out.highlight);
  take<S>(from, &S::hide_root, out.hide_root);
  take<S>(from, &S::expanded, out.expanded);
  return out;
}

ColumnLook Look::column(std::string_view name) const {
  using S = ColumnSettings;
  const bool tree = name == "id" || name == "name" || name == "type";
  const auto from = {find_in(columns, name), tree ? &built_in_ : find_in(columns, "default")};
  ColumnLook out;
  take<S>(from, &S::title, out.title);
  take<S>(from, &S::style, out.style);
  take<S>(from, &S::header, out.header);
  take<S>(from, &S::justify, out.justify);
  take<S>(from, &S::vertical, out.vertical);
  take<S>(from, &S::overflow, out.overflow);
  take<S>(from, &S::no_wrap, out.no_wrap);
  take<S>(from, &S::width, out.width);
  take<S>(from, &S::show, out.show);
  return out;
}

std::optional<size_t> Look::depth() const {
  size_t least = std::numeric_limits<size_t>::max();
  const auto consider = [&](size_t depth) {
    if (!level(depth).expanded) least = std::min(least, depth);
  };
  size_t unnamed = 0;  // the first level without its own table
  while (levels.contains(std::to_string(unnamed))) ++unnamed;
  consider(unnamed);
  for (const auto& [name, settings] : levels)
    if (name != "all" && name != "default") consider(std::stoul(name));
  return least == std::numeric_limits<size_t>::max() ? std::nullopt : std::optional(least);
}

std::vector<const Written*> Look::labels() const {
  std::vector<const Written*> out;
  for (const auto& [name, settings] : levels)
    if (settings.label) out.push_back(&*settings.label);
  return out;
}

std::vector<tmeter::OptionSpec> option_tables() {
  std::vector<tmeter::OptionSpec> out;
  for (const auto& o : all_options()) out.push_back(o.spec);
  return out;
}

}  // namespace text_report
