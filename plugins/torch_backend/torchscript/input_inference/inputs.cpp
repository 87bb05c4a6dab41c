#include "torchscript/input_inference/inputs.hpp"

#include <charconv>
#include <deque>
#include <optional>

#include "operators/messages.hpp"
#include "torchscript/input_inference/candidates.hpp"

namespace tmeter::torch_backend {
namespace {

using c10::TypeKind;

class GivenValue {
 public:
  GivenValue(const InputSpec& spec, const c10::TypePtr& type, const std::string& argument,
             const std::function<at::ScalarType()>& default_type)
      : whole_(spec), type_(type), argument_(argument), default_type_(default_type) {}

  c10::IValue run() const { return value(whole_, type_); }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(TMETER_BAD_USAGE, "--input " + std::string(whole_.text) + ": " + why);
  }
  [[noreturn]] void refuse_form() const {
    refuse("the argument '" + argument_ + "' is " + type_->annotation_str());
  }

  c10::IValue value(const InputSpec& spec, const c10::TypePtr& type) const {
    switch (type->kind()) {
      case TypeKind::OptionalType:
        if (spec.form == TMETER_INPUT_VALUE && spec.value == "none") return {};
        return value(spec, type->expectRef<c10::OptionalType>().getElementType());
      case TypeKind::TensorType:
        return tensor(spec);
      case TypeKind::ListType:
        return list(spec, type->expectRef<c10::ListType>().getElementType());
      case TypeKind::TupleType:
        return tuple(spec, *type);
      default:
        return scalar(spec, *type);
    }
  }

  at::Tensor tensor(const InputSpec& spec) const {
    if (spec.form != TMETER_INPUT_TENSOR) refuse_form();
    const auto dtype = spec.dtype.id() != TMETER_DTYPE_UNDEFINED
                           ? static_cast<at::ScalarType>(spec.dtype.id())
                           : default_type_();
    try {
      return at::empty(at::IntArrayRef(spec.dims.begin(), spec.dims.end()),
                       at::dtype(dtype).device(at::kMeta));
    } catch (const std::exception& e) {
      refuse(short_reason(e));
    }
  }

  c10::IValue list(const InputSpec& spec, const c10::TypePtr& element) const {
    c10::impl::GenericList out(element);
    if (spec.form == TMETER_INPUT_LIST) {
      for (const auto& item : spec.items) out.push_back(value(item, element));
      return out;
    }
    if (spec.form != TMETER_INPUT_TENSOR) refuse_form();
    if (element->kind() == TypeKind::IntType) {
      for (const auto d : spec.dims) out.push_back(d);
      return out;
    }
    if (element->kind() != TypeKind::TensorType) refuse_form();
    add_images(tensor(spec), out);
    return out;
  }

  /// Adds the images of a batch, or a single image.
  static void add_images(const at::Tensor& whole, c10::impl::GenericList& out) {
    if (whole.dim() < 4) return out.push_back(whole);
    for (int64_t k = 0; k < whole.size(0); ++k) out.push_back(at::empty_like(whole[k]));
  }

  c10::IValue tuple(const InputSpec& spec, const c10::Type& type) const {
    const auto elements = type.containedTypes();
    const bool grouped = spec.form == TMETER_INPUT_TUPLE || spec.form == TMETER_INPUT_LIST;
    if (!grouped || spec.items.size() != elements.size()) refuse_form();
    std::vector<c10::IValue> items;
    for (size_t i = 0; i < elements.size(); ++i) items.push_back(value(spec.items[i], elements[i]));
    return c10::ivalue::Tuple::create(std::move(items));
  }

  /// The host parses 5 as a shape of one dim, but true and 0.5 as values.
  c10::IValue scalar(const InputSpec& spec, const c10::Type& type) const {
    const bool size = spec.form == TMETER_INPUT_TENSOR && spec.dims.rank() == 1;
    const bool plain = spec.form == TMETER_INPUT_VALUE;
    double number = 0;
    const bool is_number =
        plain &&
        std::from_chars(spec.value.data(), spec.value.data() + spec.value.size(), number).ec ==
            std::errc();
    switch (type.kind()) {
      case TypeKind::IntType:
        if (size) return spec.dims[0];
        if (is_number && number == std::floor(number)) return static_cast<int64_t>(number);
        break;
      case TypeKind::FloatType:
        if (size) return static_cast<double>(spec.dims[0]);
        if (is_number) return number;
        break;
      case TypeKind::BoolType:
        if (plain && (spec.value == "true" || spec.value == "false")) return spec.value == "true";
        break;
      default:
        break;
    }
    refuse_form();
  }

  const InputSpec& whole_;
  const c10::TypePtr& type_;
  const std::string& argument_;
  const std::function<at::ScalarType()>& default_type_;
};

/// Throws TMETER_BAD_USAGE, naming the argument and its type, if `spec` has another form.
/// `default_type` is called for tensors whose dtype the user does not name.
c10::IValue given_value(const InputSpec& spec, const c10::TypePtr& type,
                        const std::string& argument,
                        const std::function<at::ScalarType()>& default_type) {
  return GivenValue(spec, type, argument, default_type).run();
}

std::vector<c10::Argument> arguments(const c10::FunctionSchema& schema) {
  return {schema.arguments().begin() + 1, schema.arguments().end()};  // without self
}

std::string example(const std::vector<UnknownInput>& unknowns, bool with_names) {
  std::string out;
  for (const auto& u : unknowns) {
    const bool list = u.type->kind() == TypeKind::ListType;
    const auto* shape = list                                              ? "[3x800x800,3x600x800]"
                        : u.constraint.kind == Constraint::Kind::kIndices ? "1x16:i64"
                                                                          : "1x3x224x224";
    out += " --input " + (with_names ? u.name + "=" : "") + shape;
  }
  return out;
}

class InputResolver {
 public:
  InputResolver(const ModelFile& file, const Request& request)
      : file_(file),
        forward_(file.root().get_method("forward")),
        schema_(forward_.function().getSchema()),
        arguments_(arguments(schema_)),
        constraints_(arguments_.size()) {
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
      bool exists = false;
      for (const auto& a : arguments_) exists = exists || a.name() == spec.name;
      if (!exists) {
        refuse("--input " + std::string(spec.text) + ": there is no argument '" +
               std::string(spec.name) + "' in " + signature(schema_));
      }
    }
  }

  const Constraint& constraint(size_t i) {
    if (!constraints_[i]) constraints_[i] = constraint_on_argument(file_.root(), i);
    return *constraints_[i];
  }

  at::ScalarType default_type(size_t i) {
    const auto& recorded = file_.recorded_inputs();
    if (i < recorded.size() && recorded[i].isTensor()) return recorded[i].toTensor().scalar_type();
    return constraint(i).kind == Constraint::Kind::kIndices ? at::kLong
                                                            : float_type_of(file_.root());
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
    const auto found =
        input_candidates(unknowns, given_tensor(set), named_image_sizes(file_.root()));
    if (found.empty()) {
      refuse("the file does not describe the model's inputs: " + signature(schema_) +
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

  /// If no argument has a constraint, the first weights constrain the first one.
  std::vector<UnknownInput> describe(const InputSet& set, const std::vector<size_t>& missing) {
    std::vector<UnknownInput> out;
    bool any = given_tensor(set).defined();
    for (const auto i : missing) {
      out.push_back({arguments_[i].name(), arguments_[i].type(), constraint(i)});
      any = any || out.back().constraint.kind != Constraint::Kind::kNone;
    }
    for (auto& u : out) {
      if (any || !u.type->isSubtypeOf(*c10::TensorType::get())) {
        if (any || u.type->kind() != TypeKind::ListType) continue;
      }
      u.constraint = constraint_of_weights(file_.root());
      any = true;
    }
    return out;
  }

  static at::Tensor given_tensor(const InputSet& set) {
    for (const auto& input : set) {
      if (input.value.isTensor() && input.origin != "default") return input.value.toTensor();
    }
    return {};
  }

  const ModelFile& file_;
  torch::jit::Method forward_;
  const c10::FunctionSchema& schema_;
  std::vector<c10::Argument> arguments_;
  std::vector<std::optional<Constraint>> constraints_;
  std::deque<InputSpec> positional_;
  std::vector<InputSpec> named_;
};

}  // namespace

std::vector<InputSet> input_sets(const ModelFile& file, const Request& request) {
  if (!file.root().find_method("forward")) {
    throw Error(TMETER_CANNOT_RUN, "the model has no method 'forward', so there is nothing to run");
  }
  return InputResolver(file, request).run();
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
