#include "operators/operator_libraries.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

namespace tmeter::torch_backend {
namespace {

std::set<std::string, std::less<>>& library_operators() {
  static auto* const names = new std::set<std::string, std::less<>>();
  return *names;
}

std::set<std::string>& opened_paths() {
  static auto* const paths = new std::set<std::string>();
  return *paths;
}

/// Never destroyed: operators live as long as the process.
std::vector<std::unique_ptr<torch::Library>>& declarations() {
  static auto* const libraries = new std::vector<std::unique_ptr<torch::Library>>();
  return *libraries;
}

std::unordered_set<std::string> all_operators() {
  std::unordered_set<std::string> out;
  for (const auto& op : c10::Dispatcher::singleton().getAllOpNames()) out.insert(op.name);
  return out;
}

}  // namespace

void open_operator_library(const std::string& path) {
  if (opened_paths().contains(path)) return;
  declarations().clear();  // an operator can be declared only once
  const auto before = all_operators();
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    const char* const why = dlerror();
    throw Error(TMETER_BAD_USAGE, "operator library " + path +
                                      " cannot be opened: " + (why ? why : "no reason given"));
  }
  for (const auto& op : all_operators()) {
    if (!before.contains(op)) library_operators().insert(op);
  }
  opened_paths().insert(path);
}

void open_operator_libraries(std::string_view paths) {
  while (!paths.empty()) {
    const auto path = paths.substr(0, paths.find(':'));
    if (!path.empty()) open_operator_library(std::string(path));
    paths.remove_prefix(std::min(path.size() + 1, paths.size()));
  }
}

bool is_of_operator_library(std::string_view op) { return library_operators().contains(op); }

void declare_operator(const std::string& op, c10::FunctionSchema schema) {
  const auto space = op.substr(0, op.find(':'));
  auto& library = declarations().emplace_back(std::make_unique<torch::Library>(
      torch::Library::FRAGMENT, space, std::nullopt, __FILE__, __LINE__));
  library->def(std::move(schema));
}

}  // namespace tmeter::torch_backend
