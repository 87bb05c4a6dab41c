// Tensors as pickles describe them: a call of one of torch's _rebuild_… functions
// (torch/_utils.py, torch/_tensor.py of torch 2.15, and their older names).
//
// Some tensors have parts: a sparse one has indices and values, a quantized one of torchao packed
// integers and scales. The parts become tensors of their own ("weight.values"), as they are in the
// file.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "pickle/value.hpp"
#include "storages.hpp"

namespace checkpoint {

struct Tensor {
  tmeter::DType dtype;
  std::vector<int64_t> dims, strides;
  std::optional<Storage> storage;  // none: saved without storage, as on the meta device
  int64_t storage_offset = 0;      // elements
  bool requires_grad = false;
  bool is_parameter = false;  // false: it may still be a parameter
};

class Tensors {
 public:
  explicit Tensors(Storages& storages) : storages_(storages) {}

  static bool is_tensor(const Value& value);

  /// Calls `visit` for the tensor or its parts. Throws BadFile if it is malformed.
  using Visit = std::function<void(const std::string& name, const Tensor&)>;
  void read(const Value& value, const std::string& name, const Visit& visit);

  /// Tensors that were added as their parts, "weight (torch.sparse_coo)".
  const std::vector<std::string>& in_parts() const { return in_parts_; }

 private:
  struct Call;
  struct Function;
  static const Function* find(std::string_view global);

  void read_call(const Call& call);
  void plain(const Call& call);
  void with_dtype(const Call& call);
  void quantized(const Call& call);
  void without_storage(const Call& call);
  void parameter(const Call& call);
  void old_parameter(const Call& call);
  void from_type(const Call& call);
  void wrapper(const Call& call);
  void sparse(const Call& call);
  void nested(const Call& call);
  void from_cpu_tensor(const Call& call);
  void from_array(const Call& call);

  Tensor described(const Call& call) const;
  void read_part(const Call& call, const Value* value, std::string_view part);
  void emit(const Call& call, const Tensor& tensor) const;

  Storages& storages_;
  std::vector<std::string> in_parts_;
  size_t parts_ = 0;
};

// Objects in place of weights. The unpickler turns calls of unknown classes into placeholders.
// They are harmless among the settings of a model. In place of a tensor or module one could
// hide any number of parameters, and a report without them would be wrong.

/// Throws BadFile: `what` ("parameter 'fc.weight'") is made by calling a class.
[[noreturn]] void refuse_placeholder(const Value& placeholder, const std::string& what);

/// Whether the arguments, attributes or items of an object hold tensors, storages or raw bytes.
/// Each value is visited once, even if many objects share it.
class HiddenWeights {
 public:
  /// True on the first visit.
  bool in(const Value& object);

 private:
  std::unordered_set<const Value*> seen_;
};

}  // namespace checkpoint
