// A file of torch.save: the saved object as plain data, and the places of its storages.
//
//   zip      NAME/data.pkl, NAME/data/0, 1, …, NAME/byteorder (torch 1.6 and newer)
//   legacy   five pickles – a magic number, the version, the machine's types, what was saved, the
//            storages' keys – and the storages (_use_new_zipfile_serialization=False)
#pragma once
#include <memory>
#include <string>
#include <tmeter/cpp/plugin.hpp>

#include "pickle/unpickler.hpp"
#include "storages.hpp"

namespace checkpoint {

struct Saved {
  Arena arena;
  const Value* root = nullptr;
  std::unique_ptr<Storages> storages;
  std::string format;  // "torch.save checkpoint (zip)"
  Calls called;        // classes whose objects are placeholders
};

/// Whether the file looks like a checkpoint: an archive with a data.pkl, or a pickle.
bool looks_saved(const tmeter::Source& source);

/// Throws BadFile. The values live as long as the source.
std::unique_ptr<Saved> read_saved(const tmeter::Source& source);

}  // namespace checkpoint
