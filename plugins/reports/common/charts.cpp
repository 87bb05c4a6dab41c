#include "charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tmeter/cpp/units.hpp>
#include <tuple>

#include "cells.hpp"
#include "plugins/common/wording.hpp"

namespace reports {
namespace {

using tmeter::Report;
using tmeter::to_view;

constexpr double kExactBelow = 10;  // above it, decimals are meaningless

constexpr size_t kMaxMembers = 24, kMaxRows = 64;  // of a readable table

struct Member {
  tmeter_series curve;
  std::string_view number;  // the end of its id
};

using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                       std::string_view>;

/// The digits that end an id, after its last "-"; empty without digits.
std::string_view number_of(std::string_view id) {
  constexpr size_t kMaxNumberDigits = 18;
  const auto dash = id.rfind('-');
  if (dash == id.npos || dash == 0) return {};
  const auto digits = id.substr(dash + 1);
  const bool is_number = !digits.empty() && digits.size() <= kMaxNumberDigits &&
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
    if (members.size() < 2 || members.size() > kMaxMembers) continue;
    if (auto family = family_of(report, members); family.rows.size() <= kMaxRows)
      out.push_back(std::move(family));
  }
  return out;
}

std::string heading_of(const CurveFamily& family) {
  std::string out = family.title;
  if (family.y_kind != TMETER_UNIT_BYTE && !family.y_unit.empty())
    out += " [" + family.y_unit + "]";
  if (family.limit > 0) out.append("; ").append(kAboveLimit).append(": more than available");
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

namespace {

using tmeter::Metric;

/// Fill characters that distinguish neighbours even without colours. They repeat from the fifth on.
constexpr std::array<std::string_view, 4> kFills{"█", "▓", "▒", "░"};
constexpr std::string_view kFree = "·", kLimit = "┃";

double value_of(const Report& report, const Metric& metric) {
  const auto cell = report.total(metric);
  return cell.known() ? cell.real() : 0;
}

std::string text_of(double value, const Metric& metric) {
  return tmeter::scaled(value, metric.unit_kind(), metric.unit()).text();
}

/// The columns of each part: in proportion, but at least one; the largest part loses the
/// difference.
std::vector<size_t> columns_of(const std::vector<double>& parts, double whole, size_t width) {
  std::vector<size_t> out;
  double end = 0;
  size_t used = 0;
  for (const auto part : parts) {
    end += part;
    const auto at = static_cast<size_t>(std::lround(end / whole * static_cast<double>(width)));
    out.push_back(std::max<size_t>(1, at > used ? at - used : 0));
    used += out.back();
  }
  while (used > width) {
    auto& largest = *std::ranges::max_element(out);
    if (largest <= 1) break;
    --largest, --used;
  }
  return out;
}

}  // namespace

std::vector<Stack> stacks_of(const Report& report) {
  std::vector<std::pair<std::string_view, Stack>> all;
  for (const auto& m : report.metrics()) {
    if (m.axis() != TMETER_AXIS_MODEL || (!m.is_part() && !m.is_capacity())) continue;
    const double value = value_of(report, m);
    if (!(value > 0) || !std::isfinite(value)) continue;
    auto at = std::ranges::find(all, m.plugin(), &std::pair<std::string_view, Stack>::first);
    if (at == all.end()) at = all.insert(at, {m.plugin(), {}});
    auto& stack = at->second;
    if (m.is_capacity()) {
      stack.capacity = m, stack.limit = value;
    } else {
      stack.parts.push_back(m), stack.values.push_back(value), stack.sum += value;
    }
  }
  std::vector<Stack> out;
  for (auto& [plugin, stack] : all)
    if (!stack.parts.empty() && std::isfinite(stack.sum)) out.push_back(std::move(stack));
  return out;
}

std::string drawn(const Stack& stack, size_t width) {
  std::vector<std::string_view> cells(width, kFree);
  const double whole = std::max(stack.sum, stack.limit);
  const auto columns = columns_of(stack.values, whole, width);
  size_t at = 0;
  for (size_t i = 0; i < columns.size(); ++i)
    for (size_t n = 0; n < columns[i] && at < width; ++n) cells[at++] = kFills[i % kFills.size()];
  if (stack.is_above() && width > 0) {
    const auto limit = std::lround(stack.limit / whole * static_cast<double>(width));
    cells[std::min(width - 1, static_cast<size_t>(limit))] = kLimit;
  }
  std::string out;
  for (const auto cell : cells) out += cell;
  return out;
}

std::string heading_of(const Stack& stack) {
  const auto& metric = stack.parts.front();
  const auto sum = text_of(stack.sum, metric);
  if (!stack.capacity) return sum;
  const auto& capacity = *stack.capacity;
  return std::string(capacity.title()) + ": " + sum + " of " + text_of(stack.limit, capacity);
}

std::vector<std::string> legend_of(const Stack& stack) {
  std::vector<std::string> out;
  for (size_t i = 0; i < stack.parts.size(); ++i)
    out.push_back(std::string(kFills[i % kFills.size()]) + " " +
                  std::string(stack.parts[i].title()) + " " +
                  text_of(stack.values[i], stack.parts[i]) + " (" +
                  plugins::percent(stack.values[i] / stack.sum) + ")");
  if (!stack.capacity) return out;
  const auto rest = text_of(std::abs(stack.limit - stack.sum), *stack.capacity);
  out.push_back(stack.is_above() ? std::string(kLimit) + " " + rest + " too much"
                                 : std::string(kFree) + " free " + rest);
  return out;
}

}  // namespace reports
