// Constants of classes and default values of arguments that are written out: 3, 0.1, True, "zeros",
// (2, 2).
//
// For each, LibTorch's compiler makes a function of its own, compiles it and runs it: 57 of the 520
// million instructions that were left of a scripted ResNet-50, whose 53 convolutions have nine
// constants each. What is written out in the type that is written beside it has no other value than
// itself; everything else, and whatever is wrong, goes to LibTorch. Stands in as start.cpp tells.
#include <torch/version.h>

#include "libtorch.hpp"
#include "start/original.hpp"

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 15

#include <torch/csrc/jit/frontend/script_type_parser.h>

#include <exception>
#include <optional>

namespace tmeter::torch_backend::start {
namespace {

using c10::IValue;
using c10::TypeKind;
using torch::jit::Const;
using torch::jit::Expr;

std::optional<IValue> scalar(const Expr& value, const c10::Type& type) {
  switch (value.kind()) {
    case torch::jit::TK_CONST: {
      const Const number(value);
      if (number.isIntegral() && type.kind() == TypeKind::IntType)
        return IValue(number.asIntegral());
      if (number.isFloatingPoint() && type.kind() == TypeKind::FloatType)
        return IValue(number.asFloatingPoint());
      return std::nullopt;
    }
    case torch::jit::TK_STRINGLITERAL:
      if (type.kind() != TypeKind::StringType) return std::nullopt;
      return IValue(torch::jit::StringLiteral(value).text());
    case torch::jit::TK_TRUE:
    case torch::jit::TK_FALSE:
      if (type.kind() != TypeKind::BoolType) return std::nullopt;
      return IValue(value.kind() == torch::jit::TK_TRUE);
    case torch::jit::TK_NONE:
      if (type.kind() != TypeKind::NoneType) return std::nullopt;
      return IValue();
    default:
      return std::nullopt;
  }
}

std::optional<IValue> tuple(const Expr& value, const c10::TupleType& type) {
  const auto items = torch::jit::TupleLiteral(value).inputs();
  if (type.schema() || items.size() != type.elements().size()) return std::nullopt;
  std::vector<IValue> out;
  for (const auto& item : items) {
    auto plain = scalar(item, *type.elements()[out.size()]);
    if (!plain) return std::nullopt;
    out.push_back(std::move(*plain));
  }
  return IValue(c10::ivalue::Tuple::create(std::move(out)));
}

bool is_written_out(const Expr& value) {
  switch (value.kind()) {
    case torch::jit::TK_CONST:
    case torch::jit::TK_STRINGLITERAL:
    case torch::jit::TK_TRUE:
    case torch::jit::TK_FALSE:
    case torch::jit::TK_NONE:
    case torch::jit::TK_TUPLE_LITERAL:
      return true;
    default:
      return false;
  }
}

std::optional<IValue> written_out(const Expr& value, const torch::jit::ScriptTypeParser& types,
                                  const Expr& type) {
  if (!is_written_out(value)) return std::nullopt;
  const auto wanted = types.parseTypeFromExpr(type);
  if (value.kind() != torch::jit::TK_TUPLE_LITERAL) return scalar(value, *wanted);
  const auto of_tuple = wanted->cast<c10::TupleType>();
  return of_tuple ? tuple(value, *of_tuple) : std::nullopt;
}

/// All of them, or nothing.
std::optional<std::vector<IValue>> all_written_out(const torch::jit::ScriptTypeParser& parser,
                                                   const std::vector<Expr>& types,
                                                   const std::vector<Expr>& values) {
  if (types.size() != values.size()) return std::nullopt;
  std::vector<IValue> out;
  try {
    for (size_t i = 0; i < values.size(); ++i) {
      auto value = written_out(values[i], parser, types[i]);
      if (!value) return std::nullopt;
      out.push_back(std::move(*value));
    }
  } catch (const std::exception&) {
    return std::nullopt;  // LibTorch says what is wrong
  }
  return out;
}

}  // namespace
}  // namespace tmeter::torch_backend::start

std::vector<c10::IValue> torch::jit::ScriptTypeParser::evaluateDefaults(
    const SourceRange& range, const std::vector<Expr>& types, const std::vector<Expr>& values) {
  namespace start = tmeter::torch_backend::start;
  using Own = std::vector<c10::IValue>(ScriptTypeParser*, const SourceRange&,
                                       const std::vector<Expr>&, const std::vector<Expr>&);
  static auto* const own = start::original<Own>(
      "_ZN5torch3jit16ScriptTypeParser16evaluateDefaultsERKNS0_11SourceRangeERKSt6vectorINS0_"
      "4ExprESaIS6_EESA_");
  if (start::wanted()) {
    if (auto plain = start::all_written_out(*this, types, values)) return std::move(*plain);
  }
  return own(this, range, types, values);
}

#endif
