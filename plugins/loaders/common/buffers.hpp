// Which tensors of a file are buffers. A state_dict does not say so: names do, and where one name
// is a parameter of one model and a buffer of another, the model's type.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace loading {

/// What config.json beside the weights calls the model and its parts: `model_type`, `_class_name`
/// of diffusers, `architecture` of timm. Empty without such a file.
std::vector<std::string> model_types_beside(const tmeter::Source& source);

class TensorKinds {
 public:
  explicit TensorKinds(const std::vector<std::string>& types);

  /// To be called for every name of the model before the first is_buffer().
  void note(std::string_view name);

  /// Of a tensor in doubt, what most models have.
  bool is_buffer(const tmeter_tensor_desc& tensor);

  /// One line about the tensors in doubt, for a warning; empty without any.
  std::string doubt() const;

 private:
  enum class Verdict { kParameter, kBuffer, kPerhapsParameter, kPerhapsBuffer };
  struct Doubt {
    size_t tensors = 0;
    int64_t elements = 0;
    std::string first;
  };

  Verdict verdict_of(const tmeter_tensor_desc& tensor) const;
  Verdict verdict_of_norm(std::string_view module) const;
  static std::string sentence(const Doubt& doubt, bool as_buffers);

  std::vector<Verdict> verdicts_;  // of the rows of buffers.inc
  Verdict frozen_;                 // of a norm without a count of batches
  // Modules with running statistics, and whether they count batches.
  std::map<std::string, bool, std::less<>> norms_;
  size_t counting_ = 0;
  Doubt as_parameters_, as_buffers_;
};

}  // namespace loading
