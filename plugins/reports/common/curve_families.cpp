#include "curve_families.hpp"

#include <algorithm>
#include <cmath>
#include <tmeter/cpp/units.hpp>
#include <tuple>

#include "cells.hpp"

namespace reports {
namespace {

using tmeter::Report;
using tmeter::to_view;

constexpr double kExactBelow = 10;  // above, digits behind the point say nothing

constexpr size_t kMostMembers = 24, kMostRows = 64;  // of a table that is read

struct Member {
  tmeter_series curve;
  std::string_view number;  // the end of its id
};

using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                       std::string_view>;

/// The digits that end an id, after its last "-"; empty without digits.
std::string_view number_of(std::string_view id) {
  constexpr size_t kMostDigits = 18;
  const auto dash = id.rfind('-');
  if (dash == id.npos || dash == 0) return {};
  const auto digits = id.substr(dash + 1);
  const bool is_number = !digits.empty() && digits.size() <= kMostDigits &&
                         digits.find_first_not_of("0123456789") == digits.npos;
  return is_number ? digits : std::string_view();
}

/// "memory for 8 sequences" as "memory for … sequences"; without its number the title of y.
std::string title_of(const Member& member) {
  std::string title(to_view(member.curve.title));
  const auto at = title.rfind(member.number);
  if (at == title.npos) return std::string(to_view(member.curve.y_title));
  return title.replace(at, member.number.size(), "…");
}

std::string with_unit(std::string_view title, std::string_view unit) {
  return std::string(title) + (unit.empty() ? "" : " [" + std::string(unit) + "]");
}

CurveFamily family_of(const Report& report, const std::vector<Member>& members) {
  const auto& first = members.back().curve;
  CurveFamily out{title_of(members.back()),
                  with_unit(to_view(first.x_title), to_view(first.x_unit)),
                  {},
                  TMETER_UNIT_OTHER,
                  std::string(to_view(first.y_unit)),
                  0,
                  {}};
  if (out.y_unit == "B") out.y_kind = TMETER_UNIT_BYTE;
  for (const auto& m : report.metrics())
    if (m.is_capacity() && m.title() == to_view(first.y_title) && m.unit() == out.y_unit)
      out.limit = report.total(m).real();
  for (size_t i = 0; i < members.size(); ++i) {
    const auto& curve = members[i].curve;
    out.members.push_back(tmeter::grouped(std::stoll(std::string(members[i].number))));
    for (size_t p = 0; p < curve.point_count; ++p)
      if (std::isfinite(curve.x[p]) && std::isfinite(curve.y[p])) {
        auto& row = out.rows[curve.x[p]];
        row.resize(members.size());
        row[i] = curve.y[p];
      }
  }
  return out;
}

}  // namespace

std::vector<CurveFamily> curve_families(const Report& report) {
  std::vector<std::pair<Key, std::vector<Member>>> all;
  for (const auto& s : report.series()) {
    const auto id = to_view(s.id), number = number_of(id);
    if (number.empty() || s.of.axis != TMETER_AXIS_MODEL) continue;
    const Key key{id.substr(0, id.size() - number.size()), to_view(s.x_title), to_view(s.x_unit),
                  to_view(s.y_title), to_view(s.y_unit)};
    auto at = std::ranges::find(all, key, &std::pair<Key, std::vector<Member>>::first);
    if (at == all.end()) at = all.insert(at, {key, {}});
    at->second.push_back({s, number});
  }
  std::vector<CurveFamily> out;
  for (const auto& [key, members] : all) {
    if (members.size() < 2 || members.size() > kMostMembers) continue;
    if (auto family = family_of(report, members); family.rows.size() <= kMostRows)
      out.push_back(std::move(family));
  }
  return out;
}

std::string heading_of(const CurveFamily& family) {
  std::string out = family.title;
  if (family.y_kind != TMETER_UNIT_BYTE && !family.y_unit.empty())
    out += " [" + family.y_unit + "]";
  if (family.limit > 0) out.append("; ").append(kAboveLimit).append(": more than there is");
  return out;
}

std::string shown_y(double value, const CurveFamily& family) {
  auto out = family.y_kind == TMETER_UNIT_BYTE
                 ? tmeter::scaled(value, family.y_kind, family.y_unit).text()
                 : shown_number(value < kExactBelow ? value : std::round(value));
  if (family.limit > 0 && value > family.limit) out.append(" ").append(kAboveLimit);
  return out;
}

std::string shown_number(double value) {
  constexpr double kExact = 1e15;
  const bool is_whole = value == std::floor(value) && std::abs(value) < kExact;
  return is_whole ? tmeter::grouped(static_cast<int64_t>(value))
                  : plain_number(tmeter::Cell(value));
}

}  // namespace reports
