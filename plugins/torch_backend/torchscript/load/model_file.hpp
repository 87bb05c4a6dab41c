// A TorchScript file as LibTorch objects, without its weights.
//
// torch::jit::load reads every weight even if it builds meta tensors, and then fails on many
// traces. This class takes the same steps with LibTorch's public parts (SourceImporter, Unpickler)
// and storages without bytes, which takes milliseconds for a file of any size.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "operators/libtorch_jit.hpp"
#include "torchscript/archive/archive.hpp"
#include "torchscript/load/foreign_operators.hpp"
#include "torchscript/load/storage.hpp"

namespace tmeter::torch_backend {

class ModelFile {
 public:
  /// Reads code and objects. Throws TMETER_REFUSED if loading would run code of the file (a class
  /// with
  /// __setstate__), unless the user trusts it.
  ModelFile(const Request& request, const Call& call);

  const Archive& archive() const { return archive_; }
  const StorageTable& storages() const { return storages_; }
  const torch::jit::Module& root() const { return root_; }
  const torch::jit::CompilationUnit& code() const { return *code_; }
  const Declarations& declarations() const { return declarations_; }
  /// The arguments stored by torch.jit.trace, as meta tensors.
  const std::vector<c10::IValue>& recorded_inputs() const { return recorded_inputs_; }

 private:
  c10::IValue unpickle(const std::string& name);
  c10::StrongTypePtr type_named(const c10::QualifiedName& name);
  std::shared_ptr<torch::jit::Source> find_source(const std::string& qualifier) const;
  c10::intrusive_ptr<c10::ivalue::Object> make_object(const c10::StrongTypePtr& type,
                                                      const c10::IValue& made);
  c10::IValue weightless(const c10::IValue& value);
  void run_set_state(torch::jit::Function& function, const c10::IValue& object,
                     const c10::IValue& state) const;
  void read_constants();
  void read_root();
  void read_recorded_inputs();

  const Call& call_;
  Archive archive_;
  StorageTable storages_;
  Declarations declarations_;
  bool trusted_;
  bool quantized_ = false;  // the pickle being read
  std::shared_ptr<torch::jit::CompilationUnit> code_;
  std::vector<c10::IValue> constants_;  // the importer points at it
  torch::jit::SourceImporter importer_;
  torch::jit::Module root_;
  std::vector<c10::IValue> recorded_inputs_;
};

}  // namespace tmeter::torch_backend
