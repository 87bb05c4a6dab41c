// The files of a model that llama-gguf-split has split: NAME-00001-of-00009.gguf and so on. Each
// one has tensors and says by `split.no` (from 0), `split.count` and `split.tensors.count` which
// one it is; the first has the model's metadata.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "header.hpp"

namespace gguf {

struct Split {
  uint64_t number = 0;              // from 0
  uint64_t count = 1;               // of files
  std::optional<uint64_t> tensors;  // of all files
};

/// Of a file that is not split: one of one. Throws BadFile for impossible numbers.
Split split_of(const Metadata& metadata);

/// The names of all files, in order, by the name of one of them. Throws BadFile if it is not named
/// as its place demands.
std::vector<std::string> shard_names(std::string_view name, const Split& split);

/// "NAME-00002-of-00009.gguf and 3 others" and so on, for messages.
std::string listed(const std::vector<std::string>& names);

}  // namespace gguf
