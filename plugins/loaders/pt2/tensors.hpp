// Tensors: parameters, buffers and constants with their types, sizes and places in the file.
//
// Newer archives describe each tensor in a config and store its bytes as a raw record; tensors that
// share a record are tied. Older archives hold the tensors in a pickle, which is not read. Then,
// and for weightless files (exported on the meta device, empty records), type and sizes come from
// the graph, and ties are found by use (ties.hpp).
#pragma once
#include <span>

#include "archive.hpp"
#include "modules.hpp"
#include "signature.hpp"

namespace pt2 {

struct StoredTensor {
  const TensorSpec* spec = nullptr;
  tmeter::DType dtype;
  uint32_t first_size = 0, rank = 0;  // in Tensors: sizes, then strides
  bool trainable = false;
  int64_t storage_offset = 0;    // elements
  std::string_view storage_key;  // empty: a separate storage
  int64_t file_offset = -1, storage_bytes = 0;
  const char* encoding = nullptr;  // a tensor subclass, whose parts are inside a pickle
  Modules::Index owner = 0;
};

class Tensors {
 public:
  Tensors(Building& building, const tmeter::Source& source, const Archive& archive)
      : building_(building), source_(source), archive_(archive) {}

  /// `weights` and `constants` are the tables of the configs, if the archive has them.
  void read(const std::vector<TensorSpec>& specs, const Scope& scope, Modules& modules,
            const std::optional<ChunkedArray>& weights,
            const std::optional<ChunkedArray>& constants);

  std::vector<StoredTensor>& all() { return tensors_; }
  std::span<const int64_t> sizes(const StoredTensor& t) const {
    return std::span(numbers_).subspan(t.first_size, t.rank);
  }
  std::span<const int64_t> strides(const StoredTensor& t) const {
    return std::span(numbers_).subspan(t.first_size + t.rank, t.rank);
  }
  /// Further names in the graph, with the index of their tensor.
  const std::vector<std::pair<std::string_view, size_t>>& aliases() const { return aliases_; }

  /// The tensor of a specification, by its index in the signature.
  size_t specs() const { return tensor_of_.size(); }
  uint32_t tensor_of(size_t spec) const { return tensor_of_[spec]; }

  /// Makes them in the host, owned by their modules, and defines their names.
  void build(const Modules& modules, Scope& scope);

 private:
  using Specs = std::vector<TensorSpec>;
  using NameIndex = NameMap<uint32_t>;  // by name, the index of its first specification
  void read_config(const ChunkedArray& table, bool of_weights, const Specs& specs,
                   const Scope& scope);
  void keep(uint32_t index, const StoredTensor& tensor);
  void note_names(const Specs& specs);
  void require_agreement(const StoredTensor& tensor, const Scope& scope);
  uint32_t first_of_name(const Specs& specs, uint32_t index) const;
  StoredTensor read_element(const TensorSpec& spec, json::element element, const Scope& scope);
  NameIndex& names_of(bool weights) { return weights ? weights_ : constants_; }
  void add(const StoredTensor& tensor, uint32_t index, uint32_t first);
  StoredTensor read_one(const Specs& specs, uint32_t index, const Scope& scope);
  bool has_config_of(const TensorSpec& spec) const;
  void read_meta(json::object meta, StoredTensor& tensor);
  void read_numbers(json::element list, std::string_view key);
  void read_payload(StoredTensor& tensor, json::object payload, const std::string& folder);
  void read_record(StoredTensor& tensor, std::string_view name, bool pickled,
                   const std::string& folder);
  const std::string& folder_of(const TensorSpec& spec) const;
  const std::optional<tmeter::Entry>& record(const std::string& folder, std::string_view name);
  int64_t reach(const StoredTensor& tensor) const;

  Building& building_;
  const tmeter::Source& source_;
  const Archive& archive_;
  NameIndex weights_, constants_;
  std::vector<StoredTensor> tensors_;  // while reading: by specification
  std::vector<uint32_t> tensor_of_;
  size_t count_ = 0;  // of distinct tensors so far
  std::vector<int64_t> numbers_;
  std::vector<std::pair<std::string_view, size_t>> aliases_;
  std::vector<StoredTensor> by_spec_;  // only if names repeat: tensors as in the configs
  bool names_repeat_ = false;
  bool has_weights_ = false, has_constants_ = false;  // the archive has these configs
  uint32_t last_name_ = 0, last_argument_ = 0;        // see NameMap::find_next
  FixedTensorMeta meta_;                              // reused
  std::string record_path_;                           // path of the latest record, record_
  std::optional<tmeter::Entry> record_;
};

/// "layer1.0.conv1.weight" → "layer1.0.conv1"
std::string_view owner_path(std::string_view tensor_name);

}  // namespace pt2
