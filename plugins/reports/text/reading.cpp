#include "reading.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <tmeter/cpp/units.hpp>

namespace text_report {
namespace {

using tmeter::Cell;

Cell sum_of(const Cell& a, const Cell& b) {
  if (a.is_zero_by_rule() && b.is_zero_by_rule()) return a;
  const bool reals = (a.is_number() && !a.is_int()) || (b.is_number() && !b.is_int());
  int64_t exact = 0;
  if (!reals && !__builtin_add_overflow(a.count().value(), b.count().value(), &exact))
    return tmeter::Count(exact);
  return a.real() + b.real();
}

}  // namespace

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

std::string column_title(const tmeter::Metric& metric, bool raw) {
  std::string title(metric.title());
  const auto kind = metric.unit_kind();
  const bool counts = kind == TMETER_UNIT_COUNT || kind == TMETER_UNIT_OP;
  if (raw && !counts && !metric.unit().empty())
    title.append(" [").append(metric.unit()).append("]");
  return title;
}

Figure figure_of(const Reading& reading, const tmeter::Metric& metric, bool raw) {
  const auto& cell = reading.cell;
  if (cell.empty()) return {"–", "", Style::kQuiet};
  if (cell.is_unknown()) return {"?", "", Style::kWarning};
  if (cell.is_unavailable()) return {"n/a", "", Style::kQuiet};
  Figure figure;
  if (raw) {
    figure.number = plain_number(cell);
  } else if (cell.real() == 0) {
    figure.number = "0";
  } else {
    auto scaled = tmeter::scaled(cell.real(), metric.unit_kind(), metric.unit());
    figure = {std::move(scaled.number), std::move(scaled.unit), Style::kPlain};
  }
  if (cell.real() == 0) figure.style = Style::kQuiet;
  if (reading.partial) {
    figure.number.insert(0, "≥");
    figure.style = Style::kWarning;
  }
  return figure;
}

}  // namespace text_report
