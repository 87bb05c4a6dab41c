#include "reading.hpp"

#include <tmeter/cpp/units.hpp>

namespace text_report {
std::string column_title(const tmeter::Metric& metric, bool raw) {
  std::string title(metric.title());
  const auto kind = metric.unit_kind();
  const bool counts = kind == TMETER_UNIT_COUNT || kind == TMETER_UNIT_OP;
  if (raw && !counts && !metric.unit().empty())
    title.append(" [").append(metric.unit()).append("]");
  return title;
}

Figure figure_of(const Cell& cell, const tmeter::Metric& metric, bool raw) {
  if (cell.empty()) return {"–", "", Style::kQuiet};
  if (cell.is_unknown()) return {"?", "", Style::kWarning};
  if (cell.is_unavailable()) return {"n/a", "", Style::kQuiet};
  if (cell.in_module()) return {"↑", "", Style::kQuiet};
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
  if (cell.assumed()) figure.number.insert(0, "~");
  if (cell.partial()) figure.number.insert(0, reports::bounds_from_below(metric) ? "≥" : "≈");
  if (cell.assumed() || cell.partial()) figure.style = Style::kWarning;
  return figure;
}

}  // namespace text_report
