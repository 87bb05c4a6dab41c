// In place of LibTorch's functions that look operators up, by name or all; start.cpp tells why and
// how.
#include <torch/version.h>

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 15

#include <array>
#include <atomic>

#include "libtorch.hpp"
#include "start/hooks.hpp"
#include "start/start.hpp"

namespace tmeter::torch_backend::start {
namespace {

using Overloads = std::vector<std::shared_ptr<torch::jit::Operator>>;

/// TorchScript's compiler asks for the same few names thousands of times.
void enter(c10::Symbol symbol) {
  if (deferred().names() == 0) return;
  constexpr size_t kMost = 1 << 14;
  static std::array<std::atomic<bool>, kMost> entered{};
  const auto id = static_cast<c10::unique_t>(symbol);
  if (id < kMost && entered[id].load(std::memory_order_acquire)) return;
  deferred().enter(symbol.toQualString());
  if (id < kMost) entered[id].store(true, std::memory_order_release);
}

}  // namespace
}  // namespace tmeter::torch_backend::start

namespace start = tmeter::torch_backend::start;

std::optional<c10::OperatorHandle> c10::Dispatcher::findSchema(const OperatorName& op) {
  static auto* const own =
      start::original<std::optional<OperatorHandle>(Dispatcher*, const OperatorName&)>(
          "_ZN3c1010Dispatcher10findSchemaERKNS_12OperatorNameE");
  start::deferred().enter(op.name);
  return own(this, op);
}

std::optional<c10::OperatorHandle> c10::Dispatcher::findOp(const OperatorName& op) {
  static auto* const own =
      start::original<std::optional<OperatorHandle>(Dispatcher*, const OperatorName&)>(
          "_ZN3c1010Dispatcher6findOpERKNS_12OperatorNameE");
  start::deferred().enter(op.name);
  return own(this, op);
}

c10::OperatorHandle c10::Dispatcher::findSchemaOrThrow(const char* name, const char* overload) {
  static auto* const own = start::original<OperatorHandle(Dispatcher*, const char*, const char*)>(
      "_ZN3c1010Dispatcher17findSchemaOrThrowEPKcS2_");
  start::deferred().enter(name);
  return own(this, name, overload);
}

const std::vector<c10::OperatorName> c10::Dispatcher::getAllOpNames() {
  static auto* const own = start::original<const std::vector<OperatorName>(Dispatcher*)>(
      "_ZN3c1010Dispatcher13getAllOpNamesEv");
  start::enter_all();
  return own(this);
}

const std::vector<c10::OperatorName> c10::Dispatcher::getAllOpNamesForDispatchKey(DispatchKey key) {
  static auto* const own =
      start::original<const std::vector<OperatorName>(Dispatcher*, DispatchKey)>(
          "_ZN3c1010Dispatcher27getAllOpNamesForDispatchKeyENS_11DispatchKeyE");
  start::enter_all();
  return own(this, key);
}

std::vector<c10::OperatorName> c10::Dispatcher::getRegistrationsForDispatchKey(
    std::optional<DispatchKey> key) const {
  static auto* const own =
      start::original<std::vector<OperatorName>(const Dispatcher*, std::optional<DispatchKey>)>(
          "_ZNK3c1010Dispatcher30getRegistrationsForDispatchKeyESt8optionalINS_11DispatchKeyEE");
  start::enter_all();
  return own(this, key);
}

std::vector<c10::OperatorHandle> c10::Dispatcher::findDanglingImpls() const {
  static auto* const own = start::original<std::vector<OperatorHandle>(const Dispatcher*)>(
      "_ZNK3c1010Dispatcher17findDanglingImplsEv");
  start::enter_all();
  return own(this);
}

const start::Overloads torch::jit::getAllOperators() {
  static auto* const own =
      start::original<const start::Overloads()>("_ZN5torch3jit15getAllOperatorsEv");
  start::enter_all();
  return own();
}

const start::Overloads& torch::jit::getAllOperatorsFor(Symbol name) {
  static auto* const own = start::original<const start::Overloads&(Symbol)>(
      "_ZN5torch3jit18getAllOperatorsForEN3c106SymbolE");
  start::enter(name);
  return own(name);
}

start::Overloads torch::jit::getAllSortedOperatorsFor(Symbol name) {
  static auto* const own = start::original<start::Overloads(Symbol)>(
      "_ZN5torch3jit24getAllSortedOperatorsForEN3c106SymbolE");
  start::enter(name);
  return own(name);
}

std::shared_ptr<torch::jit::Operator> torch::jit::findOperatorFor(const c10::OperatorName& op) {
  static auto* const own = start::original<std::shared_ptr<Operator>(const c10::OperatorName&)>(
      "_ZN5torch3jit15findOperatorForERKN3c1012OperatorNameE");
  start::deferred().enter(op.name);
  return own(op);
}

std::vector<c10::Symbol> torch::jit::findSimilarOperators(Symbol op) {
  static auto* const own = start::original<std::vector<Symbol>(Symbol)>(
      "_ZN5torch3jit20findSimilarOperatorsEN3c106SymbolE");
  start::enter_all();
  return own(op);
}

std::shared_ptr<torch::jit::Operator> torch::jit::getOperatorForLiteral(const char* signature) {
  static auto* const own = start::original<std::shared_ptr<Operator>(const char*)>(
      "_ZN5torch3jit21getOperatorForLiteralEPKc");
  start::deferred().enter(start::shared_name(signature));
  return own(signature);
}

void torch::jit::deregisterOperator(const FunctionSchema& schema) {
  static auto* const own = start::original<void(const FunctionSchema&)>(
      "_ZN5torch3jit18deregisterOperatorERKN3c1014FunctionSchemaE");
  if (start::names_left()) start::deferred().enter(schema.name());
  own(schema);
}

#endif
