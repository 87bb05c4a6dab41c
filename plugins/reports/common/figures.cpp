#include "figures.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <tmeter/cpp/units.hpp>

namespace reports {
namespace {

using tmeter::Cell;
using tmeter::Metric;

Cell sum_of(const Cell& a, const Cell& b) {
  if (a.is_zero_by_rule() && b.is_zero_by_rule()) return a;
  const bool reals = (a.is_number() && !a.is_int()) || (b.is_number() && !b.is_int());
  int64_t exact = 0;
  if (!reals && !__builtin_add_overflow(a.count().value(), b.count().value(), &exact))
    return tmeter::Count(exact);
  return a.real() + b.real();
}

// What stands where no number does; empty for numbers.
std::string_view sign_of(const Cell& cell) {
  if (cell.empty()) return "–";
  if (cell.is_unknown()) return "?";
  if (cell.is_unavailable()) return "n/a";
  return cell.is_zero_by_rule() ? "0ʳ" : "";
}

std::string bounded(const Reading& reading, std::string number) {
  return reading.partial ? "≥" + number : number;
}

}  // namespace

void Accumulator::add(const Reading& reading) {
  add(reading.cell);
  unknown_ = unknown_ || reading.partial;
}

void Accumulator::add(const Cell& cell) {
  if (cell.is_unknown()) unknown_ = true;
  if (!cell.known()) {
    if (cell.is_unavailable() && sum_.empty()) sum_ = cell;
    return;
  }
  if (!sum_.known()) {
    sum_ = cell;
    return;
  }
  switch (aggregation_) {
    case TMETER_AGGREGATE_SUM:
      sum_ = sum_of(sum_, cell);
      break;
    case TMETER_AGGREGATE_MAX:
      if (cell.real() > sum_.real()) sum_ = cell;
      break;
    case TMETER_AGGREGATE_LAST:
      sum_ = cell;
      break;
    default:
      mixed_ = true;
  }
}

Reading Accumulator::reading() const {
  if (mixed_) return {};
  if (unknown_ && !sum_.known()) return {Cell::unsupported(), false};
  return {sum_, unknown_};
}

std::string plain_number(const Cell& cell) {
  if (!cell.is_number()) return "0";
  if (cell.is_int()) return std::to_string(cell.count().value());
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), cell.real()).ptr;
  return {buffer.data(), end};
}

std::optional<std::string_view> status_of(const Reading& reading) {
  const auto& cell = reading.cell;
  if (cell.is_unknown()) return "unknown";
  if (cell.is_unavailable()) return "unavailable";
  if (cell.is_number() && !std::isfinite(cell.real())) return "not_finite";
  if (reading.partial && cell.known()) return "lower_bound";
  if (cell.is_zero_by_rule()) return "zero_by_rule";
  return std::nullopt;
}

std::string shown(const Reading& reading, const Metric& metric) {
  const auto& cell = reading.cell;
  if (!reading.partial || !cell.known())
    if (const auto sign = sign_of(cell); !sign.empty()) return std::string(sign);
  if (cell.real() == 0) return bounded(reading, "0");
  return bounded(reading, tmeter::scaled(cell.real(), metric.unit_kind(), metric.unit()).text());
}

std::string shown_in_full(const Reading& reading, const Metric& metric) {
  const auto kind = metric.unit_kind();
  const bool count = kind == TMETER_UNIT_COUNT || kind == TMETER_UNIT_OP;
  if (!count || !reading.cell.is_int()) return shown(reading, metric);
  return bounded(reading, tmeter::grouped(reading.cell.count().value()));
}

}  // namespace reports
