#include <torch/version.h>

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 15

#include <charconv>
#include <utility>

#include "start/original.hpp"
#include "start/schemas.hpp"

namespace tmeter::torch_backend::start {

using c10::FunctionSchema;
using c10::detail::infer_schema::ArgumentDef;

bool is_unparsed(const FunctionSchema& schema) {
  return schema.overload_name() == kUnparsed || schema.overload_name() == kUnparsedWithVariables;
}

FunctionSchema parse(const std::string& text, bool allow_typevars) {
  static auto* const own = original<FunctionSchema(const std::string&, bool)>(
      "_ZN5torch3jit11parseSchemaERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEb");
  return own(text, allow_typevars);
}

/// The schema that a stand-in has the text of.
FunctionSchema parsed(FunctionSchema&& schema) {
  if (!is_unparsed(schema)) return std::move(schema);
  auto out = parse(schema.name(), schema.overload_name() == kUnparsedWithVariables);
  if (!schema.isDefaultAliasAnalysisKind()) out.setAliasAnalysis(schema.aliasAnalysis());
  return out;
}

DefinitionSites& definition_sites() {
  static auto* const sites = new DefinitionSites();
  return *sites;
}

KernelTypes& kernel_types() {
  static auto* const all = new KernelTypes();
  return *all;
}

FunctionSchema infer(c10::ArrayRef<ArgumentDef> arguments, c10::ArrayRef<ArgumentDef> returns) {
  static auto* const own = original<FunctionSchema(c10::ArrayRef<ArgumentDef>,
                                                   c10::ArrayRef<ArgumentDef>)>(
      "_ZN3c106detail12infer_schema20make_function_schemaENS_8ArrayRefINS1_11ArgumentDefEEES4_");
  return own(arguments, returns);
}

size_t stands_for(const std::unique_ptr<FunctionSchema>& schema) {
  if (!schema || !schema->overload_name().starts_with(kInferred)) return kNone;
  const auto number = std::string_view(schema->overload_name()).substr(kInferred.size());
  size_t which = kNone;
  std::from_chars(number.data(), number.data() + number.size(), which);
  return which;
}

std::unique_ptr<FunctionSchema> inferred(size_t which) {
  const auto& [types, kernels] = kernel_types();
  const auto& kernel = kernels[which];
  const c10::ArrayRef<ArgumentDef> all(types);
  return std::make_unique<FunctionSchema>(
      infer(all.slice(kernel.begin, kernel.returns - kernel.begin),
            all.slice(kernel.returns, kernel.end - kernel.returns)));
}

void complete(std::unique_ptr<FunctionSchema>& schema) {
  if (const auto which = stands_for(schema); which != kNone) schema = inferred(which);
}

}  // namespace tmeter::torch_backend::start

#endif
