#include "recorded.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

namespace recorded {
namespace {

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// safetensors' names of types that differ from tmeter's short codes in capitals.
tmeter::DType parse_type(const std::string& name) {
  static const std::map<std::string, std::string> names{
      {"F8_E4M3", "f8e4m3"},         {"F8_E5M2", "f8e5m2"}, {"F8_E4M3FNUZ", "f8e4m3fnuz"},
      {"F8_E5M2FNUZ", "f8e5m2fnuz"}, {"BOOL", "bool"},
  };
  const auto found = names.find(name);
  std::string code = found == names.end() ? name : found->second;
  for (auto& c : code) c = static_cast<char>(std::tolower(c));
  return tmeter::DType::parse(code);
}

}  // namespace

std::vector<RecordedTensor> tensors() {
  const auto file = contents(FIXTURES "/tensors.safetensors");
  const auto expected = nlohmann::json::parse(contents(FIXTURES "/expected.json"))["tensors"];
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const auto header = nlohmann::json::parse(file.substr(8, length));
  std::vector<RecordedTensor> out;
  for (const auto& [name, t] : header.items()) {
    if (name == "__metadata__") continue;
    const size_t begin = 8 + length + t["data_offsets"][0].get<size_t>();
    const size_t end = 8 + length + t["data_offsets"][1].get<size_t>();
    out.push_back({name,
                   parse_type(t["dtype"]),
                   t["shape"].get<std::vector<int64_t>>(),
                   {file.begin() + static_cast<std::ptrdiff_t>(begin),
                    file.begin() + static_cast<std::ptrdiff_t>(end)},
                   expected.at(name)});
  }
  return out;
}

param_stats::Statistics analyse(tmeter::DType type, const std::vector<uint8_t>& bytes,
                                int64_t parts, int64_t chunk, double threshold, int* passes) {
  const auto size = static_cast<size_t>(type.bytes());
  const auto numel = static_cast<int64_t>(bytes.size() / size);
  param_stats::Statistics statistics;
  std::unique_ptr<param_stats::Collector> earlier;
  for (int pass = 1;; ++pass) {
    const auto make = [&] {
      return earlier ? earlier->next() : param_stats::make_collector(type, numel);
    };
    std::unique_ptr<param_stats::Collector> merged;
    for (int64_t p = 0; p < parts; ++p) {
      auto part = make();
      const int64_t end = numel * (p + 1) / parts;
      for (int64_t at = numel * p / parts; at < end; at += chunk) {
        const auto n = static_cast<size_t>(std::min(chunk, end - at));
        part->add(std::span(bytes).subspan(static_cast<size_t>(at) * size, n * size));
      }
      merged ? merged->merge(*part) : static_cast<void>(merged = std::move(part));
    }
    if (passes) *passes = pass;
    if (!merged->finish(threshold, statistics)) return statistics;
    earlier = std::move(merged);
  }
}

::testing::AssertionResult close(double actual, const nlohmann::json& expected, double scale) {
  const double reference = expected.get<double>();
  const double tolerance = 1e-6 * std::fmax(std::fabs(reference), scale);
  if (std::fabs(actual - reference) <= tolerance) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << actual << " instead of " << reference;
}

}  // namespace recorded
