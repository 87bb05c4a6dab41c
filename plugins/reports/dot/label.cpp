#include "label.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "../common/columns.hpp"
#include "plugins/common/utf8.hpp"

namespace dot_report {
namespace {

using tmeter::Metric;
using tmeter::Report;

// From white to a red on which black text can still be read (ColorBrewer's OrRd, lightened).
struct Color {
  double red, green, blue;
};
constexpr Color kNothing{255, 255, 255}, kAll{239, 101, 72};

std::string hex(double share) {
  // The square root, because costs differ by powers of ten and small ones would all be white.
  const double t = std::sqrt(std::clamp(share, 0.0, 1.0));
  const auto mix = [t](double a, double b) {
    return static_cast<unsigned>(std::lround(a + t * (b - a)));
  };
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", mix(kNothing.red, kAll.red),
                mix(kNothing.green, kAll.green), mix(kNothing.blue, kAll.blue));
  return text.data();
}

std::optional<Metric> chosen_color(const Report& report, const Options& options) {
  if (options.color == "none") return std::nullopt;
  if (!options.color.empty()) return reports::find_metric(report, options.color, "dot.color");
  return reports::main_metric(reports::chosen_metrics(
      report, [&](const Metric& m) { return reports::is_readable(report, m); }));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : plugins::printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string quoted(std::string_view text) { return '"' + escaped(plugins::readable(text)) + '"'; }

std::string quoted(const std::vector<std::string>& lines) {
  std::string out = "\"";
  for (size_t i = 0; i < lines.size(); ++i)
    out += (i ? "\\n" : "") + escaped(plugins::readable(lines[i]));
  return out + '"';
}

Look::Look(const Report& report, const Options& options, const std::vector<std::string_view>& words,
           const std::vector<std::string_view>& usual)
    : color_(chosen_color(report, options)) {
  if (color_) whole_ = report.total(*color_).real();
  const auto ids = options.attributes.empty() ? usual : reports::split(options.attributes);
  for (const auto id : ids) {
    if (std::find(words.begin(), words.end(), id) != words.end())
      attributes_.emplace_back(std::string(id));
    else
      attributes_.emplace_back(reports::find_metric(report, id, "dot.attributes"));
  }
  if (options.attributes.empty() && color_) attributes_.emplace_back(*color_);
}

std::string Look::line(const Metric& metric, const tmeter::Cell& cell) {
  return std::string(metric.title()) + " " + reports::shown(cell, metric);
}

std::string Look::style(const tmeter::Cell& cell) const {
  if (!color_) return {};
  if (cell.is_unknown()) return " style=\"filled,dashed\"";
  if (cell.is_unavailable()) return " style=\"filled,dotted\"";
  if (!cell.known() || whole_ <= 0 || cell.real() <= 0) return {};
  return " fillcolor=\"" + hex(cell.real() / whole_) + "\"";
}

std::string Look::legend() const {
  std::string text;
  if (color_)
    text = "colour: share of " + std::string(color_->title()) +
           " (square root); dashed: unknown; dotted: not available. ";
  return text + std::string(reports::kLegend);
}

}  // namespace dot_report
