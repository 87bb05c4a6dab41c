// Tensors: parameters, buffers and constants with their types, sizes and places in the file.
//
// Newer archives describe each in a config and store its storage as a raw record; tensors that
// share a record are tied. Older archives keep them in a pickle that is not read: type and sizes
// come from the graph, and so they do for weightless files (exported on the meta device), whose
// records are empty. There ties are recognised by use, see ties.hpp.
#pragma once
#include "archive.hpp"
#include "modules.hpp"
#include "signature.hpp"

namespace pt2 {

struct StoredTensor {
  TensorSpec spec;
  std::vector<std::string_view> aliases;  // further names in the graph (strict export, torch 2.8)
  tmeter::DType dtype;
  std::vector<int64_t> dims, strides;
  int64_t storage_offset = 0;  // elements
  bool trainable = false;
  std::string storage_key;  // empty: a storage of its own
  int64_t file_offset = -1, storage_bytes = 0;
};

class Tensors {
 public:
  Tensors(Building& building, const tmeter::Source& source, const Archive& archive)
      : building_(building), source_(source), archive_(archive) {}

  /// `weights`, `constants`: the config objects, if the archive has them.
  void read(const std::vector<TensorSpec>& specs, const Scope& scope,
            std::optional<json::object> weights, std::optional<json::object> constants);
  std::vector<StoredTensor>& all() { return tensors_; }
  /// Makes them in the host, owned by their modules, and defines their names.
  void build(const Modules& modules, Scope& scope);

 private:
  using Config = std::unordered_map<std::string_view, json::element>;
  void add(StoredTensor tensor);
  StoredTensor read_one(const TensorSpec& spec, const Scope& scope);
  void read_payload(StoredTensor& tensor, json::object payload, const std::string& folder);

  Building& building_;
  const tmeter::Source& source_;
  const Archive& archive_;
  Config weights_, constants_;
  std::vector<StoredTensor> tensors_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

/// "layer1.0.conv1.weight" → "layer1.0.conv1"
std::string_view owner_path(std::string_view tensor_name);

}  // namespace pt2
