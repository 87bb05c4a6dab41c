// In place of LibTorch's functions that register operators; start.cpp tells why and how.
#include <torch/version.h>

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 15

#include <ATen/core/op_registration/op_registration.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <array>
#include <charconv>
#include <utility>

#include "libtorch.hpp"
#include "start/hooks.hpp"
#include "start/registrations.hpp"
#include "start/schemas.hpp"

namespace start = tmeter::torch_backend::start;

torch::Library& torch::Library::_def(c10::FunctionSchema&& schema, c10::OperatorName* out_name,
                                     const std::vector<at::Tag>& tags, _RegisterOrVerify how) & {
  if (!start::wanted()) {
    start::define(*this, std::move(schema), out_name, tags, how);
    return *this;
  }
  start::definition_sites().defined(schema);
  const auto name = start::name_in(ns_, schema.name());
  if (start::deferring() && !out_name && !python_module_ && how == _RegisterOrVerify::REGISTER &&
      !name.empty()) {
    start::deferred().add(name, start::definition(*this, std::move(schema), tags));
    return *this;
  }
  const std::lock_guard lock(start::deferred().mutex());
  start::deferred().enter(name);
  start::define(*this, std::move(schema), out_name, tags, how);
  return *this;
}

torch::Library& torch::Library::_def(
    std::variant<c10::OperatorName, c10::FunctionSchema>&& name_or_schema, CppFunction&& function,
    const std::vector<at::Tag>& tags) & {
  using Own = Library&(Library*, std::variant<c10::OperatorName, c10::FunctionSchema>&&,
                       CppFunction&&, const std::vector<at::Tag>&);
  static auto* const own = start::original<Own>(
      "_ZNR5torch7Library4_defEOSt7variantIJN3c1012OperatorNameENS2_14FunctionSchemaEEEONS_"
      "11CppFunctionERKSt6vectorI"
      "NS_10headeronly3TagESaISB_EE");
  if (!start::wanted()) return own(this, std::move(name_or_schema), std::move(function), tags);
  start::definition_sites().forget();
  start::complete(function.schema_);
  const std::lock_guard lock(start::deferred().mutex());
  std::string name;
  if (auto* const schema = std::get_if<c10::FunctionSchema>(&name_or_schema)) {
    name_or_schema = start::parsed(std::move(*schema));
    name = std::get<c10::FunctionSchema>(name_or_schema).name();
  } else {
    name = std::get<c10::OperatorName>(name_or_schema).name;
  }
  start::deferred().enter(start::name_in(ns_, name));
  return own(this, std::move(name_or_schema), std::move(function), tags);
}

torch::Library& torch::Library::_impl(const char* op, CppFunction&& function,
                                      _RegisterOrVerify how) & {
  if (!start::wanted()) {
    start::implement(*this, op, std::move(function), how);
    return *this;
  }
  start::definition_sites().forget();
  const auto name = start::name_in(ns_, op);
  if (start::deferring() && how == _RegisterOrVerify::REGISTER && !name.empty()) {
    start::deferred().add(name, start::kernel(*this, op, std::move(function)));
    return *this;
  }
  const std::lock_guard lock(start::deferred().mutex());
  start::deferred().enter(name);
  start::implement(*this, op, std::move(function), how);
  return *this;
}

/// The old way of registering: three operators of LibTorch.
void c10::RegisterOperators::checkSchemaAndRegisterOp_(Options&& options) {
  static auto* const own = start::original<void(RegisterOperators*, Options &&)>(
      "_ZN3c1017RegisterOperators25checkSchemaAndRegisterOp_EONS0_7OptionsE");
  if (!start::wanted()) return own(this, std::move(options));
  start::definition_sites().forget();
  const std::lock_guard lock(start::deferred().mutex());
  for (auto& kernel : options.kernels) start::complete(kernel.inferred_function_schema);
  if (auto& what = options.schemaOrName_) {
    if (auto* const schema = std::get_if<FunctionSchema>(&*what))
      *what = start::parsed(std::move(*schema));
    const auto* const schema = std::get_if<FunctionSchema>(&*what);
    start::deferred().enter(schema ? schema->name() : std::get<OperatorName>(*what).name);
  }
  own(this, std::move(options));
}

c10::FunctionSchema torch::jit::parseSchema(const std::string& text, bool allow_typevars) {
  if (!start::deferring()) return start::parse(text, allow_typevars);
  const void* const site = __builtin_return_address(0);
  auto& sites = start::definition_sites();
  sites.forget();
  if (sites.known(site)) {
    return {text,
            std::string(allow_typevars ? start::kUnparsedWithVariables : start::kUnparsed),
            {},
            {}};
  }
  auto schema = start::parse(text, allow_typevars);
  sites.parsed_at(site, schema);
  return schema;
}

c10::FunctionSchema c10::detail::infer_schema::make_function_schema(
    c10::ArrayRef<ArgumentDef> arguments, c10::ArrayRef<ArgumentDef> returns) {
  if (!start::deferring()) return start::infer(arguments, returns);
  auto& [types, kernels] = start::kernel_types();
  const auto begin = types.size();
  types.insert(types.end(), arguments.begin(), arguments.end());
  const auto middle = types.size();
  types.insert(types.end(), returns.begin(), returns.end());
  kernels.push_back({begin, middle, types.size()});
  std::array<char, 15> name{};
  start::kInferred.copy(name.data(), name.size());
  const auto end =
      std::to_chars(name.data() + start::kInferred.size(), name.end(), kernels.size() - 1).ptr;
  return {"", std::string(name.data(), end), {}, {}};
}

void torch::jit::registerOperator(Operator&& op) {
  // Those of the dispatcher come from it, by somebody who has its lock and ours.
  if (!start::wanted() || op.isC10Op()) return start::enter_script_operator(std::move(op));
  const auto name = start::name_of(op);
  if (start::deferring()) {
    return start::deferred().add(name, start::script_operator(std::move(op)));
  }
  const std::lock_guard lock(start::deferred().mutex());
  start::deferred().enter(name);
  start::enter_script_operator(std::move(op));
}

#endif
