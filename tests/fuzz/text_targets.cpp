// Small languages: texts of users, plugins and files.
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/tmeter/input_spec.hpp"
#include "core/analysis/assertion.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/config/manifest_index.hpp"
#include "core/process/limits.hpp"
#include "plugins/loaders/pt2/expr.hpp"
#include "tests/fuzz/targets.hpp"

namespace tmeter::fuzz {
namespace {

void assertion(std::string_view input) { core::parse_assertion(std::string(input)); }
void input_spec(std::string_view input) { app::parse_input_spec(std::string(input)); }
void sweep(std::string_view input) { app::parse_sweep_spec(std::string(input)); }

void limits(std::string_view input) {
  const std::string text(input);
  for (const auto parse : {+[](const std::string& t) { core::parse_bytes("--max-memory", t); },
                           +[](const std::string& t) { core::parse_seconds("--timeout", t); }}) {
    try {
      parse(text);
    } catch (const core::Error&) {
    }
  }
}

void expression(std::string_view input) {
  try {
    const auto e = pt2::Expr::parse(input);
    for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{7}, INT64_MAX, INT64_MIN})
      e.evaluate(std::vector<int64_t>(e.symbols().size(), size));
  } catch (const pt2::ExprError&) {
  }
}

/// The only control characters left are line ends, tabs and colours.
void terminal(std::string_view input) {
  const auto line = core::visible(input, 1000);
  for (const unsigned char c : line) {
    if (c < 0x20 || c == 0x7F) std::abort();
  }
  const auto report = core::terminal_safe(input);
  for (size_t i = 0; i < report.size(); ++i) {
    const auto c = static_cast<unsigned char>(report[i]);
    if (c >= 0x20 || c == '\n' || c == '\t') continue;
    const auto end = report.find_first_not_of("0123456789;[", i + 1);
    if (c != 0x1B || end == std::string::npos || report[end] != 'm') std::abort();
  }
}

/// An accepted index, written again, reads the same.
void index(std::string_view input) {
  core::ManifestIndex read;
  try {
    read = core::parse_index(input);
  } catch (const core::Error&) {
    return;
  }
  const auto text = core::write_index(read);
  if (core::write_index(core::parse_index(text)) != text) std::abort();
}

constexpr Target kTargets[] = {
    {"assertion", assertion},   {"input", input_spec},  {"sweep", sweep}, {"limits", limits},
    {"expression", expression}, {"terminal", terminal}, {"index", index}};

}  // namespace

std::span<const Target> text_targets() { return kTargets; }

}  // namespace tmeter::fuzz
