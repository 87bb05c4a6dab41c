#include "shard_index.hpp"

#include <algorithm>
#include <map>

namespace loading {
namespace {

constexpr size_t kLargestIndex =
    100'000'000;  // bytes; the header of a safetensors file has as many

/// The index names each tensor's file; a name there twice would decide between two files.
void refuse_twice(std::vector<std::string_view> names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw BadFile("weight_map has " + in_quotes(*twice) + " twice");
}

}  // namespace

std::unique_ptr<ShardIndex> ShardIndex::read(std::string_view bytes) {
  auto index = std::make_unique<ShardIndex>();
  json::element root;
  if (bytes.size() > kLargestIndex) throw BadFile("an index of more than 100 MB");
  // Parsed from a copy: simdjson wants readable bytes behind it, a file ends where it ends.
  if (const auto error = index->parser_.parse(bytes.data(), bytes.size(), true).get(root)) {
    throw BadFile("this is not valid JSON: " + explain(error));
  }
  json::object object;
  if (root.get(object) != simdjson::SUCCESS || !find(object, "weight_map")) return nullptr;
  index->read_map(object_member(object, "weight_map"));
  return index;
}

void ShardIndex::read_map(json::object map) {
  std::map<std::string_view, std::vector<std::string_view>> by_file;
  std::vector<std::string_view> names;
  for (const auto field : map) {
    const auto file = within([&] { return "weight_map, " + in_quotes(field.key); },
                             [&] { return as_text(field.value); });
    by_file[file].push_back(field.key);
    names.push_back(field.key);
  }
  if (names.empty()) throw BadFile("weight_map is empty: the index names no tensor");
  refuse_twice(std::move(names));
  for (auto& [file, tensors] : by_file) shards_.push_back({file, std::move(tensors)});
}

void check_shard(const Shard& shard, std::vector<std::string_view> found) {
  std::sort(found.begin(), found.end());
  for (const auto wanted : shard.tensors)
    if (!std::binary_search(found.begin(), found.end(), wanted))
      throw BadFile("the index says that it holds " + in_quotes(wanted) + ", but it does not");
}

}  // namespace loading
