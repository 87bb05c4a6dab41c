// Recognises the buffers of a file. A state_dict does not mark them: names do, and if one name
// is a parameter in one model and a buffer in another, the model's type decides.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace loading {

/// The types of the model and its parts in config.json beside the weights: `model_type`,
/// `_class_name` of diffusers, `architecture` of timm. Empty without such a file.
std::vector<std::string> model_types_beside(const tmeter::Source& source);

class TensorKinds {
 public:
  explicit TensorKinds(const std::vector<std::string>& types);

  /// Called for every name of the model before the first is_buffer().
  void note(std::string_view name);

  /// For a tensor of uncertain kind, the kind in most models.
  bool is_buffer(const tmeter_tensor_desc& tensor);

  /// One line about the tensors of uncertain kind, for a warning; empty without any.
  std::string uncertain_kinds() const;

 private:
  enum class Verdict { kParameter, kBuffer, kPerhapsParameter, kPerhapsBuffer };
  struct UncertainTensors {
    size_t tensors = 0;
    int64_t elements = 0;
    std::string first;
  };

  Verdict verdict_of(const tmeter_tensor_desc& tensor) const;
  Verdict verdict_of_norm(std::string_view module) const;
  static std::string sentence(const UncertainTensors& uncertain, bool as_buffers);

  std::vector<Verdict> verdicts_;  // by row of buffers.inc
  Verdict frozen_;                 // for norms without a count of batches
  // Modules with running statistics, and whether they count batches.
  std::map<std::string, bool, std::less<>> norms_;
  size_t counting_ = 0;
  UncertainTensors as_parameters_, as_buffers_;
};

}  // namespace loading
