#include "shards.hpp"

#include <algorithm>
#include <cstdio>

namespace gguf {
namespace {

constexpr uint64_t kMaxFiles = 10'000;  // of a source

/// "-00002-of-00009.gguf"
std::string ending(uint64_t number, uint64_t count) {
  char text[64];
  std::snprintf(text, sizeof text, "-%05llu-of-%05llu.gguf",
                static_cast<unsigned long long>(number + 1),
                static_cast<unsigned long long>(count));
  return text;
}

}  // namespace

Split split_of(const Metadata& metadata) {
  Split s;
  s.count = metadata.find_size("split.count").value_or(1);
  s.number = metadata.find_size("split.no").value_or(0);
  s.tensors = metadata.find_size("split.tensors.count");
  if (s.count == 0) s.count = 1;  // as llama.cpp: not split
  if (s.number >= s.count)
    throw BadFile("split.no is " + std::to_string(s.number) + " of " + std::to_string(s.count) +
                  " files");
  if (s.count > kMaxFiles)
    throw BadFile("split.count is " + std::to_string(s.count) +
                  "; tmeter reads at most 10,000 files");
  return s;
}

std::vector<std::string> shard_names(std::string_view name, const Split& split) {
  const auto end = ending(split.number, split.count);
  if (!name.ends_with(end))
    throw BadFile("it is part " + std::to_string(split.number + 1) + " of " +
                      std::to_string(split.count) + ", but its name does not end in '" + end + "'",
                  "give it the name that it was downloaded from");
  name.remove_suffix(end.size());
  std::vector<std::string> out;
  for (uint64_t i = 0; i < split.count; ++i)
    out.push_back(std::string(name) + ending(i, split.count));
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMaxNamedShards = 5;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMaxNamedShards); ++i)
    out += (i > 0 ? ", " : "") + loading::in_quotes(names[i]);
  if (names.size() > kMaxNamedShards)
    out += " and " + std::to_string(names.size() - kMaxNamedShards) + " others";
  return out;
}

}  // namespace gguf
