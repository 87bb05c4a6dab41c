#include "run/inputs.hpp"

#include <deque>

#include "load/messages.hpp"
#include "run/inference.hpp"

namespace tmeter::torch_backend {
namespace {

using c10::TypeKind;

std::vector<c10::Argument> arguments(const c10::FunctionSchema& schema) {
  return {schema.arguments().begin() + 1, schema.arguments().end()};  // without self
}

class Matcher {
 public:
  Matcher(const ModelFile& file, const Request& request)
      : file_(file),
        forward_(file.root().get_method("forward")),
        schema_(forward_.function().getSchema()),
        arguments_(arguments(schema_)) {
    for (const auto& spec : request.inputs()) {
      if (spec.name.empty())
        positional_.push_back(spec);
      else
        named_.push_back(spec);
    }
    any_given_ = !positional_.empty() || !named_.empty();
  }

  std::vector<InputSet> run() {
    require_known_names();
    InputSet set;
    std::vector<size_t> missing;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      set.push_back({arguments_[i].name(), "default", "", {}});
      if (!given(i, set.back()) && !recorded(i, set.back()) && !by_default(i, set.back())) {
        missing.push_back(i);
      }
    }
    if (!positional_.empty()) {
      refuse("there are more --input values than arguments: " + signature(schema_));
    }
    return missing.empty() ? std::vector<InputSet>{set} : inferred(set, missing);
  }

 private:
  [[noreturn]] static void refuse(const std::string& what) { throw Error(TMETER_BAD_USAGE, what); }

  /// "--input ids=1x16:i64 --input image=1x3x224x224": one that would be understood.
  [[noreturn]] void refuse_missing(const std::vector<size_t>& missing) const {
    std::string example;
    for (const auto i : missing) {
      example += " --input " + (arguments_.size() > 1 ? arguments_[i].name() + "=" : "") +
                 (default_type(i) == at::kLong ? "1x16:i64" : "1x3x224x224");
    }
    refuse("the file does not say what inputs the model takes: " + signature(schema_) +
           ". Give them, for example" + example);
  }

  void require_known_names() const {
    for (const auto& spec : named_) {
      bool known = false;
      for (const auto& a : arguments_) known = known || a.name() == spec.name;
      if (!known) {
        refuse("--input " + std::string(spec.text) + ": there is no argument '" +
               std::string(spec.name) + "' in " + signature(schema_));
      }
    }
  }

  at::ScalarType default_type(size_t i) const {
    const auto inputs = torch::jit::toGraphFunction(forward_.function()).graph()->inputs();
    return i + 1 < inputs.size() && used_as_indices(inputs[i + 1]) ? at::kLong
                                                                   : float_type_of(file_.root());
  }

  at::ScalarType type_for(size_t i, const InputSpec& spec) const {
    if (spec.dtype.id() != TMETER_DTYPE_UNDEFINED) {
      return static_cast<at::ScalarType>(spec.dtype.id());
    }
    const auto& recorded = file_.recorded_inputs();
    if (i < recorded.size() && recorded[i].isTensor()) return recorded[i].toTensor().scalar_type();
    return default_type(i);
  }

  at::Tensor tensor(size_t i, const InputSpec& spec) const {
    try {
      return at::empty(at::IntArrayRef(spec.dims.begin(), spec.dims.end()),
                       at::dtype(type_for(i, spec)).device(at::kMeta));
    } catch (const std::exception& e) {
      refuse("--input " + std::string(spec.text) + ": " + short_reason(e));
    }
  }

  /// A list of images is given as one batch, or as one image.
  c10::IValue as_type(size_t i, const c10::TypePtr& type, const InputSpec& spec) const {
    if (const auto optional = type->cast<c10::OptionalType>()) {
      return as_type(i, optional->getElementType(), spec);
    }
    const auto whole = tensor(i, spec);
    if (type->isSubtypeOf(*c10::TensorType::get())) return whole;
    if (!type->isSubtypeOf(*c10::ListType::ofTensors())) {
      refuse("--input " + std::string(spec.text) + ": the argument '" + arguments_[i].name() +
             "' is no tensor: " + signature(schema_));
    }
    c10::List<at::Tensor> list;
    if (whole.dim() < 4) list.push_back(whole);
    for (int64_t k = 0; whole.dim() >= 4 && k < whole.size(0); ++k)
      list.push_back(at::empty_like(whole[k]));
    return list;
  }

  bool given(size_t i, ModelInput& input) {
    const InputSpec* spec = nullptr;
    for (const auto& s : named_) {
      if (s.name == arguments_[i].name()) spec = &s;
    }
    const bool by_place = !spec && !positional_.empty();
    if (by_place) spec = &positional_.front();
    if (!spec) return false;
    input.value = as_type(i, arguments_[i].type(), *spec);
    input.origin = "given";
    input.text = spec->text;
    if (by_place) positional_.pop_front();
    return true;
  }

  bool recorded(size_t i, ModelInput& input) const {
    if (i >= file_.recorded_inputs().size()) return false;
    input.value = file_.recorded_inputs()[i];
    input.origin = "recorded";
    return true;
  }

  bool by_default(size_t i, ModelInput& input) const {
    const auto& a = arguments_[i];
    if (a.default_value()) input.value = *a.default_value();
    return a.default_value() || a.type()->kind() == TypeKind::OptionalType;
  }

  /// One tensor, and nothing said about it: tried in several forms.
  std::vector<InputSet> inferred(const InputSet& set, const std::vector<size_t>& missing) const {
    const auto& first = arguments_[missing[0]];
    const bool tensor = first.type()->isSubtypeOf(*c10::TensorType::get());
    if (missing.size() > 1 || any_given_ || !tensor) refuse_missing(missing);
    auto tensors = likely_inputs(file_.root());
    if (default_type(missing[0]) == at::kLong) {
      tensors = {at::empty({1, 16}, at::dtype(at::kLong).device(at::kMeta))};
    }
    if (tensors.empty()) refuse_missing(missing);
    std::vector<InputSet> sets;
    for (const auto& t : tensors) {
      sets.push_back(set);
      sets.back()[missing[0]].value = t;
      sets.back()[missing[0]].origin = "inferred";
    }
    return sets;
  }

  const ModelFile& file_;
  torch::jit::Method forward_;
  const c10::FunctionSchema& schema_;
  std::vector<c10::Argument> arguments_;
  std::deque<InputSpec> positional_;
  std::vector<InputSpec> named_;
  bool any_given_ = false;
};

}  // namespace

std::vector<InputSet> input_sets(const ModelFile& file, const Request& request) {
  if (!file.root().find_method("forward")) {
    throw Error(TMETER_CANNOT_RUN, "the model has no method 'forward', so there is nothing to run");
  }
  return Matcher(file, request).run();
}

std::string signature(const c10::FunctionSchema& schema) {
  std::string out;
  for (const auto& a : arguments(schema)) {
    out += (out.empty() ? "" : ", ") + a.name() + ": " + a.type()->annotation_str();
    if (a.default_value()) out += " = " + c10::str(*a.default_value());
  }
  return "forward(" + out + ")";
}

std::string given_text(const InputSet& inputs) {
  std::string out;
  for (const auto& i : inputs) {
    if (!i.text.empty()) out += (out.empty() ? "--input " : " --input ") + i.text;
  }
  return out;
}

}  // namespace tmeter::torch_backend
