#include <algorithm>

#include "tables.hpp"

namespace html_report {
namespace {

void write_target(Json& json, const tmeter_target& of) {
  json.key("of").open('[').integer(of.axis).natural(of.index).close(']');
}

void write_reals(Json& json, std::string_view key, const double* values, size_t n) {
  json.key(key).open('[');
  for (size_t i = 0; i < n; ++i) json.shortest(values[i]);
  json.close(']');
}

void write_distribution(Json& json, const tmeter_distribution& d) {
  json.open('{');
  json.key("id").text(tmeter::to_view(d.id)).key("title").text(tmeter::to_view(d.title));
  json.key("unit").text(tmeter::to_view(d.unit));
  write_target(json, d.of);
  write_reals(json, "edges", d.edges, d.bin_count + 1);
  json.key("counts").open('[');
  for (size_t i = 0; i < d.bin_count; ++i) exact(json, static_cast<int64_t>(d.counts[i]));
  json.close(']').close('}');
}

void write_series(Json& json, const tmeter_series& s) {
  json.open('{');
  json.key("id").text(tmeter::to_view(s.id)).key("title").text(tmeter::to_view(s.title));
  json.key("x_title")
      .text(tmeter::to_view(s.x_title))
      .key("x_unit")
      .text(tmeter::to_view(s.x_unit));
  json.key("y_title")
      .text(tmeter::to_view(s.y_title))
      .key("y_unit")
      .text(tmeter::to_view(s.y_unit));
  write_target(json, s.of);
  write_reals(json, "x", s.x, s.point_count);
  write_reals(json, "y", s.y, s.point_count);
  json.close('}');
}

}  // namespace

void write_curves(Json& json, const tmeter::Report& report) {
  json.open('{').key("distributions").open('[');
  for (const auto& d : report.distributions()) write_distribution(json, d);
  json.close(']').key("series").open('[');
  for (const auto& s : report.series()) write_series(json, s);
  json.close(']').close('}');
}

}  // namespace html_report
