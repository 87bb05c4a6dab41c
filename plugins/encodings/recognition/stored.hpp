// Stored tensors of a file, and the weights that they make up: packed or scaled, in several stored
// tensors each.
#pragma once
#include <tmeter/abi/builder.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace packed {

/// A tensor as stored in the file.
struct Stored {
  std::string_view name;
  int32_t dtype = TMETER_DTYPE_UNDEFINED;  // TMETER_DTYPE_…
  std::string_view element;   // the file's own word for a type that torch lacks: "F4", "F6_E2M3"
  std::vector<int64_t> dims;  // dims in the file
  int64_t offset = 0, bytes = 0;
  const tmeter_source* file = nullptr;  // null: the model file
  std::string_view data;                // its bytes; empty in weightless files
};

/// The strings that files store beside their tensors (`__metadata__` of safetensors), by key.
using Metadata = std::unordered_map<std::string_view, std::string_view>;

struct Part {
  std::string_view role;  // a literal
  const Stored* stored;
};

/// A weight of the model that several stored tensors make up.
struct Packed {
  std::string name;
  std::vector<int64_t> dims;  // dims of the weight
  const Stored* values = nullptr;
  std::string encoding, parameters;
  int64_t block_elements = 0, block_bytes = 0;
  std::vector<Part> parts;
};

struct Recognised {
  std::vector<Packed> packed;
  std::vector<const Stored*> plain;  // the others, in their order
  std::vector<std::string> notes;    // messages for users about ambiguities
};

}  // namespace packed
