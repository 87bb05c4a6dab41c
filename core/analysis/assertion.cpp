#include "core/analysis/assertion.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

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

constexpr std::array<std::string_view, 7> kComparisons{"<=", "<", ">=", ">", "==", "=", "!="};

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

bool compare(double value, const std::string& op, double bound) {
  if (op == "<=") return value <= bound;
  if (op == "<") return value < bound;
  if (op == ">=") return value >= bound;
  if (op == ">") return value > bound;
  if (op == "!=") return value != bound;
  return value == bound;
}

std::string plain(double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.17g", value);
  return buffer.data();
}

bool is_coverage(const Assertion& a) { return a.metric == "coverage"; }

double value_of(const Assertion& a, const Results& results) {
  if (is_coverage(a)) return results.coverage.ratio();
  const auto total = results.find(a.metric)->cell(TMETER_AXIS_MODEL, 0);
  if (total.kind == TMETER_NUMBER_UNKNOWN || total.kind == TMETER_NUMBER_UNAVAILABLE) {
    throw Error(ErrorKind::kAssertion,
                "assertion '" + a.text + "' does not hold: " + a.metric + " is not known");
  }
  return real(total);
}

}  // namespace

Assertion parse_assertion(const std::string& text) {
  const auto compact = without_spaces(text);
  const auto begin = compact.find_first_of("<>=!");
  if (begin == std::string::npos || begin == 0)
    refuse(text, "METRIC, a comparison and a number are expected");
  const auto end = compact.find_first_not_of("<>=!", begin);
  Assertion a{text, compact.substr(0, begin), compact.substr(begin, end - begin), 0};
  if (std::find(kComparisons.begin(), kComparisons.end(), a.op) == kComparisons.end())
    refuse(text, "unknown comparison '" + a.op + "'");
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

void require_metric(const Assertion& a, const Results& results) {
  if (is_coverage(a)) {
    if (results.coverage.metric.empty()) refuse(a.text, "no loaded plugin states a coverage");
    return;
  }
  if (results.find(a.metric)) return;
  std::vector<std::string> known{"coverage"};
  for (const auto& c : results.columns) known.push_back(c.id);
  refuse(a.text,
         "there is no metric '" + a.metric + "' in this run" + did_you_mean(a.metric, known));
}

void check_assertion(const Assertion& a, const Results& results) {
  require_metric(a, results);
  const double value = value_of(a, results);
  if (compare(value, a.op, a.bound)) return;
  throw Error(ErrorKind::kAssertion,
              "assertion '" + a.text + "' does not hold: " + a.metric + " is " + plain(value));
}

}  // namespace tmeter::core
