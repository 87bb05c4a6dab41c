#include "shard_index.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "json_text.hpp"

namespace loading {
namespace {

constexpr size_t kMaxIndexBytes = 100'000'000;  // the limit of a safetensors header
constexpr size_t kMaxFiles = 10'000;            // of a source

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// {"00002", "00009"} of "model-00002-of-00009.safetensors"; empty strings otherwise.
std::pair<std::string_view, std::string_view> shard_numbers(std::string_view name) {
  constexpr std::string_view kOf = "-of-";
  const auto of = name.find(kOf);
  if (of == name.npos || of == 0) return {};
  const auto dash = name.rfind('-', of - 1);
  const auto dot = name.find('.', of);
  if (dash == name.npos || dot == name.npos) return {};
  const auto number = name.substr(dash + 1, of - dash - 1);
  const auto count = name.substr(of + kOf.size(), dot - of - kOf.size());
  if (!is_number(number) || !is_number(count)) return {};
  return {number, count};
}

std::string_view without_zeros(std::string_view number) {
  return number.substr(std::min(number.find_first_not_of('0'), number.size() - 1));
}

void require_none(const std::vector<std::string>& names, size_t all, const std::string& state,
                  const std::string& states, const std::string& advice) {
  if (names.empty()) return;
  throw BadFile(std::to_string(names.size()) + " of " + std::to_string(all) + " shards " +
                    (names.size() == 1 ? state : states) + ": " + listed(names),
                advice);
}

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
  auto at = by_file.end();
  for (const auto field : map) {
    const auto file = within([&] { return "weight_map, " + in_quotes(field.key); },
                             [&] { return as_text(field.value); });
    if (at == by_file.end() || at->first != file) at = by_file.try_emplace(file).first;
    at->second.push_back(field.key);
  }
  if (by_file.empty()) throw BadFile("weight_map is empty: the index names no tensor");
  if (by_file.size() > kMaxFiles)
    throw BadFile("weight_map names " + std::to_string(by_file.size()) +
                      " files; tmeter reads at most 10,000",
                  "merge files of the model");
  for (auto& [file, tensors] : by_file) shards_.push_back({file, std::move(tensors)});
}

bool is_shard(std::string_view file_name) { return !shard_numbers(file_name).first.empty(); }

std::string part_of_shards(std::string_view path) {
  const auto [number, count] = shard_numbers(path.substr(path.rfind('/') + 1));
  if (number.empty() || without_zeros(count) == "1") return {};
  return "file " + std::string(without_zeros(number)) + " of " + std::string(without_zeros(count));
}

bool is_lfs_pointer(std::string_view bytes) { return bytes.starts_with("version https://git-lfs"); }

void require_shards(const ShardIndex& index,
                    const std::function<ShardState(std::string_view file)>& state_of) {
  std::vector<std::string> missing, pointers;
  for (const auto& shard : index.shards()) {
    const bool plain = !shard.file.empty() && shard.file.find('/') == shard.file.npos &&
                       shard.file != ".." && shard.file != ".";
    if (!plain)
      throw BadFile("weight_map places " + in_quotes(shard.tensors.front()) + " in " +
                        in_quotes(shard.file) +
                        ", which is not a plain file name in its own folder",
                    "the index may name only files of this folder");
    const auto state = state_of(shard.file);
    if (state == ShardState::kMissing) missing.emplace_back(shard.file);
    if (state == ShardState::kLfsPointer) pointers.emplace_back(shard.file);
  }
  const auto all = index.shards().size();
  require_none(missing, all, "is missing or cannot be read", "are missing or cannot be read",
               "download the rest of the model");
  require_none(pointers, all, "is a Git LFS pointer instead of the file itself",
               "are Git LFS pointers instead of the files themselves",
               "`git lfs pull` fetches the missing files");
}

void require_shards(const ShardIndex& index, const tmeter::Source& index_file) {
  require_shards(index, [&](std::string_view file) {
    try {
      const auto bytes = index_file.companion(file).bytes();
      if (bytes.empty()) return ShardState::kMissing;
      return is_lfs_pointer(bytes) ? ShardState::kLfsPointer : ShardState::kPresent;
    } catch (const tmeter::Reported&) {
      return ShardState::kMissing;
    }
  });
}

void check_shard(const Shard& shard, std::vector<std::string_view> found) {
  if (found == shard.tensors) return;  // most writers list both by name
  auto expected = shard.tensors;
  for (auto* names : {&expected, &found})  // mostly sorted already
    if (!std::is_sorted(names->begin(), names->end())) std::sort(names->begin(), names->end());
  auto at = found.begin();
  for (const auto name : expected) {
    while (at != found.end() && *at < name) ++at;
    if (at == found.end() || *at != name)
      throw BadFile("according to the index it holds " + in_quotes(name) + ", but it does not");
  }
}

}  // namespace loading
