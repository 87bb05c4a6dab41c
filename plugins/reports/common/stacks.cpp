#include "stacks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tmeter/cpp/units.hpp>

#include "cells.hpp"
#include "plugins/common/wording.hpp"

namespace reports {
namespace {

using tmeter::Metric;
using tmeter::Report;

/// Of neighbours, in a terminal of one colour, too. From the fifth on they repeat.
constexpr std::array<std::string_view, 4> kFills{"█", "▓", "▒", "░"};
constexpr std::string_view kFree = "·", kLimit = "┃";

double value_of(const Report& report, const Metric& metric) {
  const auto cell = report.total(metric);
  return cell.known() ? cell.real() : 0;
}

std::string text_of(double value, const Metric& metric) {
  return tmeter::scaled(value, metric.unit_kind(), metric.unit()).text();
}

/// Columns of each part: by its share, at least one, the largest gives way.
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
