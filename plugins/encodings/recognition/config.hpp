// The packing of a model's weights by its config.json: `quantization_config`, or MLX's
// `quantization`.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace packed {

struct Grouping {
  std::optional<int64_t> bits, group;
  std::string mode;  // MLX: "affine", "mxfp4"
};

struct Config {
  bool given = false;
  std::string method;  // "gptq", "awq", "compressed-tensors", "fp8", …; "mlx" for MLX's own
  /// "checkpoint_format" of GPTQ, "format" of compressed-tensors, "version" of AWQ.
  std::string format;
  Grouping all;
  std::map<std::string, Grouping, std::less<>> layers;  // MLX: exceptions, by module
  bool varies = false;                                  // GPTQ and AutoRound: some layers differ
  std::vector<int64_t> block;                           // "weight_block_size" of fp8
  std::string note;                                     // about a malformed pattern
};

/// `given` is false if the text has no entry about packing. Throws BadFile for a text that
/// is not JSON, or a value of the wrong type, naming its key.
Config parse_config(std::string_view json);

}  // namespace packed
