#include "core/analysis/assertion.hpp"

#include <array>
#include <charconv>
#include <cstdio>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

struct Assertion {
  std::string metric, op;
  double bound = 0;
};

struct Suffix {
  std::string_view text;
  double factor;
};
constexpr std::array<Suffix, 14> kSuffixes{{{"", 1},
                                            {"%", 0.01},
                                            {"K", 1e3},
                                            {"M", 1e6},
                                            {"G", 1e9},
                                            {"T", 1e12},
                                            {"KiB", 1024.0},
                                            {"MiB", 1048576.0},
                                            {"GiB", 1073741824.0},
                                            {"TiB", 1099511627776.0},
                                            {"uJ", 1e-6},
                                            {"mJ", 1e-3},
                                            {"J", 1},
                                            {"B", 1}}};

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::kUsage,
              "--assert '" + text + "': " + why + "; as in 'macs<=5G' or 'coverage==100%'");
}

std::string without_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ') out += c;
  }
  return out;
}

Assertion parse(const std::string& text) {
  const auto compact = without_spaces(text);
  const auto begin = compact.find_first_of("<>=!");
  if (begin == std::string::npos || begin == 0)
    refuse(text, "METRIC, a comparison and a number are expected");
  const auto end = compact.find_first_not_of("<>=!", begin);
  Assertion a{compact.substr(0, begin), compact.substr(begin, end - begin), 0};
  const auto number = end == std::string::npos ? std::string() : compact.substr(end);
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), a.bound);
  if (parsed.ec != std::errc()) refuse(text, "'" + number + "' is no number");
  const std::string_view rest(parsed.ptr,
                              static_cast<size_t>(number.data() + number.size() - parsed.ptr));
  for (const auto& s : kSuffixes) {
    if (s.text == rest) return a.bound *= s.factor, a;
  }
  refuse(text, "unknown unit '" + std::string(rest) + "'");
}

bool compare(const std::string& text, double value, const std::string& op, double bound) {
  if (op == "<=") return value <= bound;
  if (op == "<") return value < bound;
  if (op == ">=") return value >= bound;
  if (op == ">") return value > bound;
  if (op == "==" || op == "=") return value == bound;
  if (op == "!=") return value != bound;
  refuse(text, "unknown comparison '" + op + "'");
}

std::string plain(double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.17g", value);
  return buffer.data();
}

double value_of(const std::string& text, const std::string& metric, const Results& results) {
  if (metric == "coverage" && results.coverage.metric.empty())
    refuse(text, "no loaded plugin states a coverage");
  if (metric == "coverage") return results.coverage.ratio();
  const auto* column = results.find(metric);
  if (!column) {
    std::vector<std::string> known{"coverage"};
    for (const auto& c : results.columns) known.push_back(c.id);
    refuse(text, "there is no metric '" + metric + "' in this run" + did_you_mean(metric, known));
  }
  const auto total = column->cell(TMETER_AXIS_MODEL, 0);
  if (total.kind == TMETER_NUMBER_UNKNOWN || total.kind == TMETER_NUMBER_UNAVAILABLE) {
    throw Error(ErrorKind::kAssertion,
                "assertion '" + text + "' does not hold: " + metric + " is not known");
  }
  return real(total);
}

}  // namespace

void check_assertion(const std::string& text, const Results& results) {
  const auto a = parse(text);
  const double value = value_of(text, a.metric, results);
  if (compare(text, value, a.op, a.bound)) return;
  throw Error(ErrorKind::kAssertion,
              "assertion '" + text + "' does not hold: " + a.metric + " is " + plain(value));
}

}  // namespace tmeter::core
