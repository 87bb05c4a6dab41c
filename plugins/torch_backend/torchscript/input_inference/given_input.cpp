#include "torchscript/input_inference/given_input.hpp"

#include <charconv>

#include "operators/messages.hpp"

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

  /// A list of images given as one batch, or as one image.
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

  /// 5 is read as a shape of one dim; true and 0.5 as values.
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

}  // namespace

c10::IValue given_value(const InputSpec& spec, const c10::TypePtr& type,
                        const std::string& argument,
                        const std::function<at::ScalarType()>& default_type) {
  return GivenValue(spec, type, argument, default_type).run();
}

}  // namespace tmeter::torch_backend
