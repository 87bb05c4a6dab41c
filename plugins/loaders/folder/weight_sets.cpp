#include "weight_sets.hpp"

#include <algorithm>
#include <array>

#include "../common/shard_index.hpp"

namespace folder {
namespace {

using Names = std::vector<std::string>;

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

/// "model-00002-of-00009.safetensors", represented by an index or the first file of a GGUF.
bool is_shard(std::string_view name) {
  const auto of = name.find("-of-");
  const auto digits = [&](size_t from, size_t to) {
    return from < to && std::all_of(name.begin() + from, name.begin() + to,
                                    [](char c) { return c >= '0' && c <= '9'; });
  };
  if (of == name.npos) return false;
  const auto dash = name.rfind('-', of - 1);
  const auto dot = name.find('.', of);
  return of > 0 && dash != name.npos && dot != name.npos && digits(dash + 1, of) &&
         digits(of + 4, dot);
}

bool is_first_shard(std::string_view name) { return name.find("-00001-of-") != name.npos; }

/// Files that trainers write beside weights, and adapters, which need a base model.
bool is_beside(std::string_view name) {
  constexpr std::array<std::string_view, 7> kBeginnings{"adapter_",      "optimizer", "scheduler",
                                                        "training_args", "rng_state", "scaler",
                                                        "trainer_state"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](auto b) { return name.starts_with(b); });
}

/// Formats in the order in which they are preferred. Formats of one rank hold the same weights when
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
    if (is_shard(name)) {
      found.shards.push_back(f.name);
      if (format->ending != ".gguf" || !is_first_shard(name)) continue;
    }
    found.sets[static_cast<size_t>(format->rank)].push_back(f.name);
  }
  return found;
}

[[noreturn]] void refuse_several(const Names& sets) {
  throw BadFile("the folder has several sets of weights: " + listed(sets),
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
                             // not its model
      choice.also.insert(choice.also.end(), sets.begin(), sets.end());
    } else if (rank <= 5) {
      others.insert(others.end(), sets.begin(), sets.end());
    }
  }
  if (others.empty()) return choice;
  others.insert(others.begin(), choice.file);
  refuse_several(others);
}

/// Checks that each file of the index exists and is not a Git LFS pointer.
void check_index(const Files& files, const std::string& index_name) {
  const auto folder = index_name.substr(0, index_name.rfind('/') + 1);
  const auto index = loading::ShardIndex::read(files.open(index_name).bytes());
  if (!index) throw BadFile("it has no weight_map");
  Names missing, pointers;
  for (const auto& shard : index->shards()) {
    const bool plain = !shard.file.empty() && shard.file.find('/') == shard.file.npos &&
                       shard.file != ".." && shard.file != ".";
    if (!plain)
      throw BadFile("weight_map places " + in_quotes(shard.tensors.front()) + " in " +
                        in_quotes(shard.file) + ", which is not a plain file name in its own folder",
                    "name files of this folder alone in the index");
    const auto* file = files.find(folder + std::string(shard.file));
    if (!file || file->size == 0)
      missing.emplace_back(shard.file);
    else if (files.is_lfs_pointer(*file))
      pointers.emplace_back(shard.file);
  }
  if (!missing.empty())
    throw BadFile(std::to_string(missing.size()) + " of its " +
                      std::to_string(index->shards().size()) +
                      " files are missing or empty: " + listed(missing),
                  "download them into the folder");
  if (!pointers.empty())
    throw BadFile(
        std::to_string(pointers.size()) + " of its " + std::to_string(index->shards().size()) +
            " files are Git LFS pointers and not what they stand for: " + listed(pointers),
        "`git lfs pull` fetches them");
}

}  // namespace

Choice choose_weights(const Files& files, std::string_view subfolder) {
  const auto found = find_sets(files, subfolder);
  const auto choice = choose(found);
  const auto& shards = found.shards;
  if (choice.file.empty() && !shards.empty())
    throw BadFile("the folder has shards without their index: " + listed(shards),
                  "download the index, such as model.safetensors.index.json, or give one shard");
  if (choice.file.ends_with(".index.json"))
    loading::within([&] { return loading::shown(choice.file); },
                    [&] { check_index(files, choice.file); });
  else if (const auto* file = choice.file.empty() ? nullptr : files.find(choice.file);
           file && files.is_lfs_pointer(*file))
    throw BadFile(
        loading::shown(choice.file) + " is a Git LFS pointer and not the file it stands for",
        "`git lfs pull` fetches it");
  return choice;
}

}  // namespace folder
