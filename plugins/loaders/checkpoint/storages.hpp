// Places of the storages of tensors in the file.
//
//   zip      each storage is a separate record, NAME/data/KEY
//   legacy   all of them follow the pickles: the number of elements, then the elements
#pragma once
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>

#include "pickle/value.hpp"

namespace checkpoint {

/// The storage of a tensor, as declared in the pickle and found in the file.
struct Storage {
  std::string key;           // equal for tensors that share memory
  tmeter::DType dtype;       // type of the declared elements
  int64_t bytes = 0;         // declared size; the file has at least this
  int64_t file_offset = -1;  // offset of the first byte; -1: compressed or missing
  bool in_file = false;
};

class Storages {
 public:
  virtual ~Storages() = default;
  /// `reference` is of Kind::kStorage. Throws BadFile if the file contradicts it.
  Storage find(const Value& reference);

 protected:
  struct Place {
    int64_t bytes = 0, file_offset = -1;
  };
  virtual Place place(std::string_view key) = 0;

 private:
  struct Declared {
    tmeter::DType dtype;
    int64_t numel = 0;
  };
  /// The first reference to each storage, by its key.
  std::unordered_map<std::string, Declared, tmeter::TextHash> declared_;
};

/// Records of the archive. `folder`: "NAME/", or "" when re-zipped without.
class ZipStorages : public Storages {
 public:
  ZipStorages(const tmeter::Source& source, std::string folder)
      : source_(source), folder_(std::move(folder)) {}

 private:
  Place place(std::string_view key) override;
  tmeter::Source source_;
  std::string folder_;
};

/// Places read from the file beforehand.
class LegacyStorages : public Storages {
 public:
  /// Elements of one storage as the pickle declares them; the first reference to it counts.
  void declare(std::string_view key, tmeter::DType dtype);
  /// Reads the storages in the order of `keys`, a list, from `at` on.
  void locate(const Value& keys, std::string_view file, size_t at);

 private:
  Place place(std::string_view key) override;
  std::unordered_map<std::string, tmeter::DType, tmeter::TextHash> declared_;
  std::unordered_map<std::string, Place, tmeter::TextHash> places_;
};

/// The pieces of a persistent id: ("storage", type, key, location, numel[, view]).
struct StorageId {
  std::string key;
  tmeter::DType dtype;
  int64_t numel = 0;
  int64_t view_offset = 0;  // elements; views of old files begin inside another storage
};
/// Throws BadFile if it is malformed.
StorageId storage_id(const Value& reference);

}  // namespace checkpoint
