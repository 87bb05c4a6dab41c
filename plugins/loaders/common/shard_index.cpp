#include "shard_index.hpp"

#include <algorithm>
#include <map>

#include "json_text.hpp"

namespace loading {
namespace {

constexpr size_t kMaxIndexBytes = 100'000'000;  // as for the header of a safetensors file

}  // namespace

std::unique_ptr<ShardIndex> ShardIndex::read(std::string_view bytes) {
  auto index = std::make_unique<ShardIndex>();
  if (bytes.size() > kMaxIndexBytes) throw BadFile("an index of more than 100 MB");
  const auto error = parse_json(bytes, false, index->document_);
  const auto root = require_json(error, index->document_);
  json::object object;
  if (root.get(object) != simdjson::SUCCESS || !find(object, "weight_map")) return nullptr;
  index->read_map(object_member(object, "weight_map"));
  return index;
}

void ShardIndex::read_map(json::object map) {
  std::map<std::string_view, std::vector<std::string_view>> by_file;
  for (const auto field : map) {
    const auto file = within([&] { return "weight_map, " + in_quotes(field.key); },
                             [&] { return as_text(field.value); });
    by_file[file].push_back(field.key);
  }
  if (by_file.empty()) throw BadFile("weight_map is empty: the index names no tensor");
  for (auto& [file, tensors] : by_file) shards_.push_back({file, std::move(tensors)});
}

void check_shard(const Shard& shard, std::vector<std::string_view> found) {
  auto wanted = shard.tensors;
  for (auto* names : {&wanted, &found})  // mostly sorted already
    if (!std::is_sorted(names->begin(), names->end())) std::sort(names->begin(), names->end());
  auto at = found.begin();
  for (const auto name : wanted) {
    while (at != found.end() && *at < name) ++at;
    if (at == found.end() || *at != name)
      throw BadFile("the index says that it holds " + in_quotes(name) + ", but it does not");
  }
}

}  // namespace loading
