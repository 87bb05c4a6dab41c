// LibTorch's start, put off.
//
// Opening libtorch_cpu.so runs 390 static initialisers, which enter 3,500 operators with 15,600
// kernels: schemas are parsed, then inferred from C++ types once more and compared, tables are
// filled for 140 dispatch keys. That took 750 of the 1,183 million instructions of a scripted
// ResNet-50, which needs a few dozen operators.
//
// The wheels' libtorch_cpu.so is linked so that its own calls of exported functions go through the
// dynamic linker, which finds a definition in this plugin first, as it is this plugin that is
// opened and LibTorch that it needs. So the functions below stand in for LibTorch's: those that
// register keep their arguments under the operator's name while LibTorch starts, and those that
// look an operator up pass what was kept under that name to LibTorch's own functions first – the
// same calls, in the same order. Nobody can see an operator that was not entered as a whole, and
// what LibTorch holds of it is what it would hold.
//
// What is not so passes through: registrations of other kinds (fallbacks of dispatch keys,
// classes), and everything after the start. TMETER_TORCH_START=full switches it off. A LibTorch in
// which these functions are not bound (linked with -Bsymbolic, or opened before this plugin) starts
// as it always did; for versions other than those below, which nobody has looked at, this file is
// empty.
#include <torch/version.h>

#include "libtorch.hpp"
#include "start/deferred.hpp"
#include "start/original.hpp"
#include "start/start.hpp"

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 15

#include <ATen/core/op_registration/infer_schema.h>
#include <ATen/core/op_registration/op_registration.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tmeter::torch_backend::start {
namespace {

using c10::Dispatcher;
using c10::FunctionSchema;
using c10::OperatorHandle;
using c10::OperatorName;
using c10::Symbol;
using c10::detail::infer_schema::ArgumentDef;
using torch::CppFunction;
using torch::Library;
using torch::jit::Operator;
using Tags = std::vector<at::Tag>;
using Overloads = std::vector<std::shared_ptr<Operator>>;

// Static initialisers of LibTorch come here before ours have run: everything is made when it is
// first used.
Deferred& deferred() {
  static auto* const all = new Deferred();  // registrations may be asked for until the process ends
  return *all;
}

// LibTorch has started: dependencies are initialised before what depends on them.
bool over = false;
__attribute__((constructor(101))) void end_start() { over = true; }

bool deferring() { return !over && wanted(); }

/// Of "add.Tensor" or its schema in the library of aten, "aten::add"; nothing when it has no
/// namespace. Held until the next one is asked for.
std::string_view name_in(const std::optional<std::string>& name_space, std::string_view op) {
  thread_local std::string full;
  const auto name = shared_name(op);
  if (name.find("::") != std::string_view::npos)
    return full = name;  // what it is of may be moved away
  if (!name_space) return {};
  full.assign(*name_space).append("::").append(name);
  return full;
}

// ---- Schemas that need not be made yet: stand-ins, told by an overload name that no operator can
// have.

// No longer than a string keeps in itself: there are 18,000.
constexpr std::string_view kUnparsed = "tmeter?", kUnparsedWithVariables = "tmeter?types";
constexpr std::string_view kInferred = "tmeter#";

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

/// Places in LibTorch's code that parse a schema and hand it on to a library, always: Library::def,
/// through which nearly all of them come. A place is known by the address its call returns to, and
/// it is trusted when it has done nothing else for two dozen times.
class DefinitionSites {
 public:
  bool known(const void* site) {
    const auto found = seen_.find(site);
    return found != seen_.end() && found->second >= kEnough;
  }
  void parsed_at(const void* site, const FunctionSchema& schema) {
    forget();
    last_site_ = site;
    last_ = schema.operator_name();
  }
  void defined(const FunctionSchema& schema) {
    if (last_site_ && schema.operator_name() == last_) {
      auto& times = seen_[last_site_];
      if (times >= 0) ++times;
      last_site_ = nullptr;
    }
    forget();
  }
  /// The schema parsed last went somewhere else.
  void forget() {
    if (last_site_) seen_[last_site_] = -1;
    last_site_ = nullptr;
  }

 private:
  static constexpr int kEnough = 24;
  std::map<const void*, int> seen_;  // how often, or -1: does other things, too
  const void* last_site_ = nullptr;
  OperatorName last_{"", ""};
};

DefinitionSites& definition_sites() {
  static auto* const sites = new DefinitionSites();
  return *sites;
}

/// The C++ types that kernels take and give, from which their schemas are inferred, one after the
/// other.
struct KernelTypes {
  struct Kernel {
    size_t begin, returns, end;
  };
  std::vector<ArgumentDef> types;
  std::vector<Kernel> kernels;
};

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

constexpr size_t kNone = ~size_t{0};

/// Which of kernel_types() a schema stands in for.
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

// ---- LibTorch's own functions, with what was kept from them put in its place.

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

// ---- What is kept.

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

struct Afterwards final : Registration {
  explicit Afterwards(std::function<void()> what) : what(std::move(what)) {}
  void enter() override { what(); }
  std::function<void()> what;
};

/// The name of a TorchScript operator, without parsing its schema.
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

}  // namespace

void enter_all() { deferred().enter_all(); }

size_t names_left() { return deferred().names(); }

/// TorchScript's compiler asks for the same few names thousands of times.
void enter(Symbol symbol) {
  if (deferred().names() == 0) return;
  constexpr size_t kMost = 1 << 14;
  static std::array<std::atomic<bool>, kMost> entered{};
  const auto id = static_cast<c10::unique_t>(symbol);
  if (id < kMost && entered[id].load(std::memory_order_acquire)) return;
  deferred().enter(symbol.toQualString());
  if (id < kMost) entered[id].store(true, std::memory_order_release);
}

void when_entered(std::string_view name, std::function<void()> what) {
  auto& all = deferred();
  const std::lock_guard lock(all.mutex());
  if (all.waits(name)) return all.add(name, std::make_unique<Afterwards>(std::move(what)));
  what();
}

std::vector<std::string> script_operators() {
  static auto* const registered = original<const Overloads()>("_ZN5torch3jit15getAllOperatorsEv");
  const auto waiting = deferred().script_names();
  std::set<std::string> names(waiting.begin(), waiting.end());
  for (const auto& op : registered()) {
    if (!op->isC10Op()) names.insert(name_of(*op));
  }
  return {names.begin(), names.end()};
}

}  // namespace tmeter::torch_backend::start

// ---- In LibTorch's place. What registers:

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
    start::deferred().add(name,
                          std::make_unique<start::Definition>(*this, std::move(schema), tags));
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
    start::deferred().add(name, std::make_unique<start::Kernel>(*this, op, std::move(function)));
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
    return start::deferred().add(name, std::make_unique<start::ScriptOperator>(std::move(op)));
  }
  const std::lock_guard lock(start::deferred().mutex());
  start::deferred().enter(name);
  start::enter_script_operator(std::move(op));
}

// What looks up:

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

#else  // another LibTorch: everything is there from the beginning

#include <set>

namespace tmeter::torch_backend::start {

void enter_all() {}
size_t names_left() { return 0; }
void when_entered(std::string_view, std::function<void()> what) { what(); }

std::vector<std::string> script_operators() {
  std::set<std::string> names;
  for (const auto& op : torch::jit::getAllOperators()) {
    if (!op->isC10Op()) names.insert(op->schema().name());
  }
  return {names.begin(), names.end()};
}

}  // namespace tmeter::torch_backend::start

#endif
