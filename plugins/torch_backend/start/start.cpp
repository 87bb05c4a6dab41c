// LibTorch's start, put off.
//
// Opening libtorch_cpu.so runs 390 static initialisers, which enter 3,500 operators with 15,600
// kernels: schemas are parsed, then inferred from C++ types once more and compared, tables are
// filled for 140 dispatch keys. That took 750 of the 1,183 million instructions of a scripted
// ResNet-50, which needs a few dozen operators.
//
// The wheels' libtorch_cpu.so is linked so that its own calls of exported functions go through the
// dynamic linker, which finds a definition in this plugin first, as it is this plugin that is
// opened and LibTorch that it needs. So the functions in registering.cpp and looking_up.cpp stand in
// for LibTorch's: those that register keep their arguments under the operator's name while LibTorch
// starts, and those that look an operator up pass what was kept under that name to LibTorch's own
// functions first – the same calls, in the same order. Nobody can see an operator that was not
// entered as a whole, and what LibTorch holds of it is what it would hold.
//
// What is not so passes through: registrations of other kinds (fallbacks of dispatch keys,
// classes), and everything after the start. TMETER_TORCH_START=full switches it off. A LibTorch in
// which these functions are not bound (linked with -Bsymbolic, or opened before this plugin) starts
// as it always did; for versions other than those below, which nobody has looked at, these files
// are empty.
#include "start/start.hpp"

#include <torch/version.h>

#include <set>
#include <utility>

#include "libtorch.hpp"

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 15

#include "start/hooks.hpp"
#include "start/registrations.hpp"

namespace tmeter::torch_backend::start {
namespace {

// LibTorch has started: dependencies are initialised before what depends on them.
bool over = false;
__attribute__((constructor(101))) void end_start() { over = true; }

struct Afterwards final : Registration {
  explicit Afterwards(std::function<void()> what) : what(std::move(what)) {}
  void enter() override { what(); }
  std::function<void()> what;
};

}  // namespace

// Static initialisers of LibTorch come here before ours have run: everything is made when it is
// first used.
Deferred& deferred() {
  static auto* const all = new Deferred();  // registrations may be asked for until the process ends
  return *all;
}

bool deferring() { return !over && wanted(); }

std::string_view name_in(const std::optional<std::string>& name_space, std::string_view op) {
  thread_local std::string full;
  const auto name = shared_name(op);
  if (name.find("::") != std::string_view::npos)
    return full = name;  // what it is of may be moved away
  if (!name_space) return {};
  full.assign(*name_space).append("::").append(name);
  return full;
}

void enter_all() { deferred().enter_all(); }

size_t names_left() { return deferred().names(); }

void when_entered(std::string_view name, std::function<void()> what) {
  auto& all = deferred();
  const std::lock_guard lock(all.mutex());
  if (all.waits(name)) return all.add(name, std::make_unique<Afterwards>(std::move(what)));
  what();
}

std::vector<std::string> script_operators() {
  static auto* const registered =
      original<const std::vector<std::shared_ptr<torch::jit::Operator>>()>(
          "_ZN5torch3jit15getAllOperatorsEv");
  const auto waiting = deferred().script_names();
  std::set<std::string> names(waiting.begin(), waiting.end());
  for (const auto& op : registered()) {
    if (!op->isC10Op()) names.insert(name_of(*op));
  }
  return {names.begin(), names.end()};
}

}  // namespace tmeter::torch_backend::start

#else  // another LibTorch: everything is there from the beginning

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
