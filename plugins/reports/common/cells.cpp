#include "cells.hpp"

#include <cmath>
#include <tmeter/cpp/units.hpp>

namespace reports {
namespace {

using tmeter::Metric;

Cell sum_of(const Cell& a, const Cell& b) {
  if (a.is_zero_by_rule() && b.is_zero_by_rule()) return a;
  const bool reals = (a.is_number() && !a.is_int()) || (b.is_number() && !b.is_int());
  int64_t exact = 0;
  if (!reals && !__builtin_add_overflow(a.count().value(), b.count().value(), &exact))
    return tmeter::Count(exact);
  return a.real() + b.real();
}

// The symbol of a cell without a number; empty for numbers.
std::string_view sign_of(const Cell& cell) {
  if (cell.empty()) return "–";
  if (cell.is_unknown()) return "?";
  if (cell.is_unavailable()) return "n/a";
  if (cell.in_module()) return "↑";
  return cell.is_zero_by_rule() ? "0ʳ" : "";
}

/// The unit of a 1-or-0 value that reports show as a word (abi.md).
bool is_yes_or_no(const Cell& cell, const Metric& metric) {
  return metric.unit() == "yes/no" && (cell.real() == 0 || cell.real() == 1);
}

std::string marked(const Cell& cell, const Metric& metric, std::string number) {
  if (cell.assumed()) return "~" + number;
  if (!cell.partial()) return number;
  return (bounds_from_below(metric) ? "≥" : "≈") + number;
}

}  // namespace

Cell module_cell(const tmeter::Report& report, const Metric& metric, const tmeter::Module& module) {
  return module.index() == 0 ? report.total(metric) : report.cell(metric, module);
}

void Accumulator::add(const Cell& cell) {
  unknown_ = unknown_ || cell.is_unknown() || cell.partial();
  unavailable_ = unavailable_ || cell.is_unavailable();
  elsewhere_ = elsewhere_ || cell.in_module();
  if (!cell.known()) return;
  number_ = number_ || cell.is_number();
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

Cell Accumulator::result() const {
  if (mixed_) return {};
  if (!number_ && unknown_) return Cell::unsupported();
  if (!number_ && unavailable_) return Cell::unavailable();
  if (!sum_.known() && elsewhere_) return Cell(tmeter_number{TMETER_NUMBER_IN_MODULE, 0, 0, 0});
  return unknown_ || unavailable_ ? sum_.as_partial() : sum_;
}

std::string plain_number(const Cell& cell) {
  if (!cell.is_number()) return "0";
  if (cell.is_int()) return std::to_string(cell.count().value());
  return tmeter::shortest(cell.real());
}

bool bounds_from_below(const Metric& metric) {
  return metric.aggregation() == TMETER_AGGREGATE_SUM ||
         metric.aggregation() == TMETER_AGGREGATE_MAX;
}

std::optional<CellStatus> cell_status(const Cell& cell, const Metric& metric) {
  if (cell.is_unknown()) return CellStatus::kUnknown;
  if (cell.is_unavailable()) return CellStatus::kUnavailable;
  if (cell.in_module()) return CellStatus::kInModule;
  if (cell.is_number() && !std::isfinite(cell.real())) return CellStatus::kNotFinite;
  if (cell.assumed()) return CellStatus::kAssumed;
  if (cell.partial())
    return bounds_from_below(metric) ? CellStatus::kLowerBound : CellStatus::kPartial;
  if (cell.is_zero_by_rule()) return CellStatus::kZeroByRule;
  return std::nullopt;
}

std::optional<std::string_view> status_of(const Cell& cell, const Metric& metric) {
  const auto status = cell_status(cell, metric);
  if (!status) return std::nullopt;
  return tmeter::vocabulary::kCellStatuses.word(static_cast<int32_t>(*status));
}

std::string shown(const Cell& cell, const Metric& metric) {
  if (!cell.partial() && !cell.assumed())
    if (const auto sign = sign_of(cell); !sign.empty()) return std::string(sign);
  if (is_yes_or_no(cell, metric)) return marked(cell, metric, cell.real() == 0 ? "no" : "yes");
  if (cell.real() == 0) return marked(cell, metric, "0");
  return marked(cell, metric,
                tmeter::scaled(cell.real(), metric.unit_kind(), metric.unit()).text());
}

std::string shown_in_full(const Cell& cell, const Metric& metric) {
  const auto kind = metric.unit_kind();
  const bool count = kind == TMETER_UNIT_COUNT || kind == TMETER_UNIT_OP;
  if (!count || !cell.is_int() || is_yes_or_no(cell, metric)) return shown(cell, metric);
  return marked(cell, metric, tmeter::grouped(cell.count().value()));
}

}  // namespace reports
