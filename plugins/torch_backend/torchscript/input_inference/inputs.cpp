#include "torchscript/input_inference/inputs.hpp"

#include <deque>
#include <optional>

#include "torchscript/input_inference/candidates.hpp"
#include "torchscript/input_inference/given_input.hpp"

namespace tmeter::torch_backend {
namespace {

using c10::TypeKind;

std::vector<c10::Argument> arguments(const c10::FunctionSchema& schema) {
  return {schema.arguments().begin() + 1, schema.arguments().end()};  // without self
}

std::string example(const std::vector<Unknown>& unknowns, bool with_names) {
  std::string out;
  for (const auto& u : unknowns) {
    const bool list = u.type->kind() == TypeKind::ListType;
    const auto* shape = list                                  ? "[3x800x800,3x600x800]"
                        : u.clue.kind == Clue::Kind::kIndices ? "1x16:i64"
                                                              : "1x3x224x224";
    out += " --input " + (with_names ? u.name + "=" : "") + shape;
  }
  return out;
}

class Matcher {
 public:
  Matcher(const ModelFile& file, const Request& request)
      : file_(file),
        forward_(file.root().get_method("forward")),
        schema_(forward_.function().getSchema()),
        arguments_(arguments(schema_)),
        clues_(arguments_.size()) {
    for (const auto& spec : request.inputs()) {
      if (spec.name.empty())
        positional_.push_back(spec);
      else
        named_.push_back(spec);
    }
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

  const Clue& clue(size_t i) {
    if (!clues_[i]) clues_[i] = clue_for_argument(file_.root(), i);
    return *clues_[i];
  }

  at::ScalarType default_type(size_t i) {
    const auto& recorded = file_.recorded_inputs();
    if (i < recorded.size() && recorded[i].isTensor()) return recorded[i].toTensor().scalar_type();
    return clue(i).kind == Clue::Kind::kIndices ? at::kLong : float_type_of(file_.root());
  }

  bool given(size_t i, ModelInput& input) {
    const InputSpec* spec = nullptr;
    for (const auto& s : named_) {
      if (s.name == arguments_[i].name()) spec = &s;
    }
    const bool by_place = !spec && !positional_.empty();
    if (by_place) spec = &positional_.front();
    if (!spec) return false;
    input.value = given_value(*spec, arguments_[i].type(), arguments_[i].name(),
                              [&] { return default_type(i); });
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

  std::vector<InputSet> inferred(const InputSet& set, const std::vector<size_t>& missing) {
    const auto unknowns = describe(set, missing);
    const auto found = choices(unknowns, known_tensor(set), named_image_sizes(file_.root()));
    if (found.empty()) {
      refuse("the file does not say what inputs the model takes: " + signature(schema_) +
             ". Give them, for example" + example(unknowns, arguments_.size() > 1));
    }
    std::vector<InputSet> sets;
    for (const auto& choice : found) {
      sets.push_back(set);
      for (size_t k = 0; k < missing.size(); ++k) {
        sets.back()[missing[k]].value = choice[k];
        sets.back()[missing[k]].origin = "inferred";
      }
    }
    return sets;
  }

  /// When following the arguments leads nowhere, the first weights tell what the first one is.
  std::vector<Unknown> describe(const InputSet& set, const std::vector<size_t>& missing) {
    std::vector<Unknown> out;
    bool any = known_tensor(set).defined();
    for (const auto i : missing) {
      out.push_back({arguments_[i].name(), arguments_[i].type(), clue(i)});
      any = any || out.back().clue.kind != Clue::Kind::kNone;
    }
    for (auto& u : out) {
      if (any || !u.type->isSubtypeOf(*c10::TensorType::get())) {
        if (any || u.type->kind() != TypeKind::ListType) continue;
      }
      u.clue = clue_from_weights(file_.root());
      any = true;
    }
    return out;
  }

  static at::Tensor known_tensor(const InputSet& set) {
    for (const auto& input : set) {
      if (input.value.isTensor() && input.origin != "default") return input.value.toTensor();
    }
    return {};
  }

  const ModelFile& file_;
  torch::jit::Method forward_;
  const c10::FunctionSchema& schema_;
  std::vector<c10::Argument> arguments_;
  std::vector<std::optional<Clue>> clues_;
  std::deque<InputSpec> positional_;
  std::vector<InputSpec> named_;
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

std::string inferred_text(const InputSet& inputs) {
  std::string out;
  for (const auto& i : inputs) {
    if (i.origin == "inferred") out += (out.empty() ? "" : " ") + i.name + "=" + as_option(i.value);
  }
  return out;
}

}  // namespace tmeter::torch_backend
