#include "weight_sets.hpp"

#include <algorithm>
#include <array>

#include "../common/shard_index.hpp"

namespace folder {
namespace {

using Names = std::vector<std::string>;

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

bool is_first_shard(std::string_view name) { return name.find("-00001-of-") != name.npos; }

/// Files that trainers write beside weights, and adapters, which need a base model.
bool is_beside(std::string_view name) {
  constexpr std::array<std::string_view, 7> kBeginnings{"adapter_",      "optimizer", "scheduler",
                                                        "training_args", "rng_state", "scaler",
                                                        "trainer_state"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](auto b) { return name.starts_with(b); });
}

/// Formats in order of preference. Formats of one rank hold the same weights if
/// both exist.
struct Format {
  std::string_view ending;
  int rank;
};
constexpr std::array<Format, 9> kFormats{{{".safetensors.index.json", 0},
                                          {".safetensors", 1},
                                          {".bin.index.json", 2},
                                          {".bin", 3},
                                          {".pt2", 4},
                                          {".gguf", 5},
                                          {".pt", 6},
                                          {".pth", 6},
                                          {".ckpt", 6}}};
constexpr int kRanks = 7;

struct Found {
  std::array<Names, kRanks> sets;
  Names shards;
};

Found find_sets(const Files& files, std::string_view subfolder) {
  Found found;
  for (const auto& f : files.in(subfolder)) {
    const auto name = last_part(f.name);
    if (is_beside(name)) continue;
    const auto format = std::find_if(kFormats.begin(), kFormats.end(),
                                     [&](const Format& x) { return name.ends_with(x.ending); });
    if (format == kFormats.end()) continue;
    if (loading::is_shard(name)) {
      found.shards.push_back(f.name);
      if (format->ending != ".gguf" || !is_first_shard(name)) continue;
    }
    found.sets[static_cast<size_t>(format->rank)].push_back(f.name);
  }
  return found;
}

[[noreturn]] void refuse_several(const Names& sets) {
  throw BadFile("the folder has several models: " + listed(sets),
                "give one of these files instead of the folder; `tmeter fleet` reads them all");
}

/// The first format that has a set, which must be its only one. Another set with other weights
/// is a choice for the user.
Choice choose(const Found& found) {
  Choice choice;
  Names others;
  for (size_t rank = 0; rank < found.sets.size(); ++rank) {
    const auto& sets = found.sets[rank];
    if (sets.empty()) continue;
    if (choice.file.empty()) {
      if (sets.size() > 1) refuse_several(sets);
      choice.file = sets.front();
    } else if (rank <= 3) {  // the Hub's folders have both formats; loose files beside an index are
                             // not the folder's model
      choice.also.insert(choice.also.end(), sets.begin(), sets.end());
    } else if (rank <= 5) {
      others.insert(others.end(), sets.begin(), sets.end());
    }
  }
  if (others.empty()) return choice;
  others.insert(others.begin(), choice.file);
  refuse_several(others);
}

/// Checks that each file of the index exists and is not a Git LFS pointer, and takes them from the
/// files that are not read.
void check_index(const Files& files, const std::string& index_name, Names& also) {
  const auto folder = index_name.substr(0, index_name.rfind('/') + 1);
  const auto index = loading::ShardIndex::read(files.open(index_name).bytes());
  if (!index) throw BadFile("it has no weight_map");
  loading::require_shards(*index, [&](std::string_view shard) {
    const auto* file = files.find(folder + std::string(shard));
    if (!file || file->size == 0) return loading::ShardState::kMissing;
    files.open(file->name);  // refuses a link out of the folder
    return files.is_lfs_pointer(*file) ? loading::ShardState::kLfsPointer
                                       : loading::ShardState::kPresent;
  });
  for (const auto& shard : index->shards()) std::erase(also, folder + std::string(shard.file));
}

}  // namespace

Choice choose_weights(const Files& files, std::string_view subfolder) {
  const auto found = find_sets(files, subfolder);
  auto choice = choose(found);
  const auto& shards = found.shards;
  if (choice.file.empty() && !shards.empty())
    throw BadFile("the folder has shards without their index: " + listed(shards),
                  "download the index, such as model.safetensors.index.json, or give one shard");
  if (choice.file.ends_with(".index.json"))
    loading::within([&] { return loading::shown(choice.file); },
                    [&] { check_index(files, choice.file, choice.also); });
  else if (const auto* file = choice.file.empty() ? nullptr : files.find(choice.file);
           file && files.is_lfs_pointer(*file))
    throw BadFile(loading::shown(choice.file) + " is a Git LFS pointer instead of the file itself",
                  "`git lfs pull` fetches it");
  return choice;
}

}  // namespace folder
