#include "view.hpp"

#include <charconv>
#include <limits>

#include "../common/columns.hpp"

namespace text_report {
namespace {

using tmeter::Error;

By read_by(std::string_view text) {
  if (text.empty() || text == "module") return By::kModule;
  if (text == "operator") return By::kOperator;
  if (text == "type") return By::kType;
  if (text == "tensor") return By::kTensor;
  throw Error(TMETER_BAD_USAGE,
              "--by takes module, operator, type or tensor, not '" + std::string(text) + "'");
}

std::optional<size_t> read_depth(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text == "all") return std::numeric_limits<size_t>::max();
  size_t depth = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), depth);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(TMETER_BAD_USAGE,
                "--depth takes a whole number from 0 or 'all', not '" + std::string(text) + "'");
  return depth;
}

}  // namespace

View read_view(const tmeter::Report& report) {
  View view;
  view.by = read_by(report.view("by"));
  view.depth = read_depth(report.view("depth"));
  if (const auto columns = report.view("columns"); !columns.empty()) {
    const auto ids = reports::split(columns);
    view.columns.emplace(ids.begin(), ids.end());
  }
  view.sort = report.view("sort");
  view.fold = report.view("no-fold").empty();
  view.repr = report.view("repr") == "1";
  view.all_notes = report.view("verbose") == "1";
  view.raw = report.view("raw") == "1";
  return view;
}

}  // namespace text_report
