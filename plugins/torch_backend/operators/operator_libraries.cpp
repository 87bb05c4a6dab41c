#include "operators/operator_libraries.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "operators/libtorch.hpp"
#include "torchscript/load/declarations.hpp"

namespace tmeter::torch_backend {
namespace {

std::set<std::string, std::less<>>& their_operators() {
  static auto* const names = new std::set<std::string, std::less<>>();
  return *names;
}

std::set<std::string>& open_ones() {
  static auto* const paths = new std::set<std::string>();
  return *paths;
}

std::unordered_set<std::string> all_operators() {
  std::unordered_set<std::string> out;
  for (const auto& op : c10::Dispatcher::singleton().getAllOpNames()) out.insert(op.name);
  return out;
}

}  // namespace

void open_operator_library(const std::string& path) {
  if (open_ones().contains(path)) return;
  withdraw_declarations();  // nobody may declare an operator twice
  const auto before = all_operators();
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    const char* const why = dlerror();
    throw Error(TMETER_BAD_USAGE, "operator library " + path +
                                      " cannot be opened: " + (why ? why : "no reason given"));
  }
  for (const auto& op : all_operators()) {
    if (!before.contains(op)) their_operators().insert(op);
  }
  open_ones().insert(path);
}

void open_operator_libraries(std::string_view paths) {
  while (!paths.empty()) {
    const auto path = paths.substr(0, paths.find(':'));
    if (!path.empty()) open_operator_library(std::string(path));
    paths.remove_prefix(std::min(path.size() + 1, paths.size()));
  }
}

bool is_of_operator_library(std::string_view op) { return their_operators().contains(op); }

}  // namespace tmeter::torch_backend
