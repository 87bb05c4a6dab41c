#include "json.hpp"

#include <cmath>

namespace html_report {

Json& exact(Json& json, int64_t value) {
  constexpr int64_t kMaxExact = int64_t{1} << 53;
  const bool is_exact = value <= kMaxExact && value >= -kMaxExact;
  return is_exact ? json.integer(value) : json.text("i" + std::to_string(value));
}

Json& cell(Json& json, const tmeter::Cell& cell) {
  if (cell.is_int()) return exact(json, cell.count().value());
  if (cell.is_zero_by_rule()) return json.text("0");
  if (cell.is_unknown()) return json.text("?");
  if (cell.is_unavailable()) return json.text("-");
  if (cell.in_module()) return json.text("^");
  if (cell.empty()) return json.null();
  const double v = cell.real();
  if (std::isfinite(v)) return json.shortest(v);
  return json.text(std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
}

}  // namespace html_report
