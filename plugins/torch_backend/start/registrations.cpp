#include <torch/version.h>

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 15

#include <optional>
#include <string_view>
#include <utility>

#include "start/original.hpp"
#include "start/registrations.hpp"
#include "start/schemas.hpp"

namespace tmeter::torch_backend::start {
namespace {

using c10::FunctionSchema;
using c10::OperatorName;
using torch::CppFunction;
using torch::Library;
using torch::jit::Operator;

/// Private members: the schema inferred for a kernel, and what a TorchScript operator keeps of its
/// own. Only an explicit instantiation may name them.
template <auto member>
struct Reach {
  friend auto& inferred_schema(CppFunction& function) { return function.*member; }
};
auto& inferred_schema(CppFunction& function);
template struct Reach<&CppFunction::schema_>;

template <auto member>
struct ReachOperator {
  friend const auto& kinds(const Operator& op) { return op.*member; }
};
const auto& kinds(const Operator& op);
template struct ReachOperator<&Operator::op_>;

struct Definition final : Registration {
  Definition(Library& library, FunctionSchema&& schema, const Tags& tags)
      : library(library), schema(std::move(schema)), tags(tags) {}
  void enter() override {
    define(library, std::move(schema), nullptr, tags, torch::_RegisterOrVerify::REGISTER);
  }
  std::optional<std::string_view> overload() const override {
    return is_unparsed(schema) ? overload_of(schema.name())
                               : std::string_view(schema.overload_name());
  }
  Library& library;
  FunctionSchema schema;
  Tags tags;
};

struct Kernel final : Registration {
  Kernel(Library& library, const char* name, CppFunction&& function)
      : library(library),
        name(name),
        types(stands_for(inferred_schema(function))),
        function(std::move(function)) {
    if (types != kNone) inferred_schema(this->function).reset();
  }
  void enter() override {
    if (types != kNone) inferred_schema(function) = inferred(types);
    implement(library, name.c_str(), std::move(function), torch::_RegisterOrVerify::REGISTER);
  }
  std::optional<std::string_view> overload() const override { return overload_of(name); }
  Library& library;
  std::string name;
  size_t types;
  CppFunction function;
};

struct ScriptOperator final : Registration {
  explicit ScriptOperator(Operator&& op) : op(std::move(op)) {}
  void enter() override { enter_script_operator(std::move(op)); }
  bool of_script() const override { return true; }
  Operator op;
};

}  // namespace

void define(Library& library, FunctionSchema&& schema, OperatorName* out_name, const Tags& tags,
            torch::_RegisterOrVerify how) {
  using Own =
      Library&(Library*, FunctionSchema&&, OperatorName*, const Tags&, torch::_RegisterOrVerify);
  static auto* const own = original<Own>(
      "_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorINS_"
      "10headeronly3TagESaIS8_"
      "EENS_17_RegisterOrVerifyE");
  if (wanted()) {
    own(&library, parsed(std::move(schema)), out_name, tags, how);
  } else {
    own(&library, std::move(schema), out_name, tags, how);
  }
}

void implement(Library& library, const char* name, CppFunction&& function,
               torch::_RegisterOrVerify how) {
  using Own = Library&(Library*, const char*, CppFunction&&, torch::_RegisterOrVerify);
  static auto* const own =
      original<Own>("_ZNR5torch7Library5_implEPKcONS_11CppFunctionENS_17_RegisterOrVerifyE");
  if (wanted()) complete(inferred_schema(function));
  own(&library, name, std::move(function), how);
}

void enter_script_operator(Operator&& op) {
  static auto* const own =
      original<void(Operator &&)>("_ZN5torch3jit16registerOperatorEONS0_8OperatorE");
  own(std::move(op));
}

std::unique_ptr<Registration> definition(Library& library, FunctionSchema&& schema,
                                         const Tags& tags) {
  return std::make_unique<Definition>(library, std::move(schema), tags);
}
std::unique_ptr<Registration> kernel(Library& library, const char* name, CppFunction&& function) {
  return std::make_unique<Kernel>(library, name, std::move(function));
}
std::unique_ptr<Registration> script_operator(Operator&& op) {
  return std::make_unique<ScriptOperator>(std::move(op));
}

std::string name_of(const Operator& op) {
  const auto of_schema = []<class S>(const S& schema) -> std::string {
    if constexpr (std::is_same_v<S, FunctionSchema>) {
      return schema.name();
    } else {
      return std::string(shared_name(schema.schema_string_));
    }
  };
  return std::visit(
      [&]<class Kind>(const Kind& kind) -> std::string {
        if constexpr (requires { kind.schema_; }) {
          return std::visit(of_schema, kind.schema_);
        } else {
          return kind.handle_.schema().name();
        }
      },
      kinds(op));
}

}  // namespace tmeter::torch_backend::start

#endif
