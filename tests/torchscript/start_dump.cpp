// Everything that LibTorch's dispatcher and TorchScript's compiler know of operators, as text,
// after a short start or a whole one (TMETER_TORCH_START=full). The functions of
// plugins/torch_backend/start stand in for LibTorch's here as they do in the plugin: a program's
// come before its libraries'. test_start.py compares.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "start/start.hpp"

namespace {

namespace start = tmeter::torch_backend::start;

std::string of_dispatcher(const c10::OperatorHandle& op) {
  std::ostringstream out;
  out << op.dumpState() << op.dumpComputedTable();
  if (op.hasSchema()) {
    out << op.schema() << " alias " << static_cast<int>(op.schema().aliasAnalysis()) << ' '
        << op.schema().isDefaultAliasAnalysisKind() << " tags";
    for (const auto tag : op.getTags()) out << ' ' << static_cast<int>(tag);
    out << '\n';
  }
  return out.str();
}

void dump_dispatcher() {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::vector<std::string> lines;
  for (const auto& name : dispatcher.getAllOpNames()) {
    std::ostringstream line;
    line << "operator " << name << '\n' << of_dispatcher(*dispatcher.findOp(name));
    lines.push_back(line.str());
  }
  std::sort(lines.begin(), lines.end());
  for (const auto& line : lines) std::cout << line;
  std::cout << "without a schema: " << dispatcher.findDanglingImpls().size() << '\n';
}

/// By name, and of each name in the order in which the compiler tries the overloads.
void dump_compiler() {
  auto all = torch::jit::getAllOperators();
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a->schema().name() < b->schema().name();
  });
  for (const auto& op : all) {
    std::cout << "overload " << op->schema() << (op->isC10Op() ? " of the dispatcher" : "")
              << " alias " << static_cast<int>(op->aliasAnalysisKind())
              << (op->hasOperation() ? "" : " creator") << '\n';
  }
}

/// Many threads ask for the same and for other operators at once, each in its own order.
void ask_in_threads(const std::vector<c10::OperatorName>& names) {
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&names, t] {
      for (size_t i = 0; i < names.size(); ++i) {
        const auto& name = names[(i * (2 * t + 1) + t * 97) % names.size()];
        if (!c10::Dispatcher::singleton().findOp(name)) std::abort();
        (void)torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name.name));
      }
    });
  }
  for (auto& t : threads) t.join();
}

}  // namespace

/// Without arguments: all. With names ("aten::add.Tensor"), those are asked for by many threads
/// first.
int main(int argc, char** argv) {
  std::cerr << start::names_left() << '\n';
  std::vector<c10::OperatorName> names;
  for (int i = 1; i < argc; ++i) {
    const std::string name(argv[i]);
    const auto dot = std::min(name.find('.'), name.size());
    names.emplace_back(name.substr(0, dot), dot < name.size() ? name.substr(dot + 1) : "");
  }
  if (!names.empty()) ask_in_threads(names);
  dump_dispatcher();
  dump_compiler();
}
