// tmeter: parse → run → print. One place catches what went wrong and turns it into an exit status.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string_view>

#include "apps/tmeter/commands.hpp"
#include "core/base/error.hpp"

namespace {

int run(int argc, char** argv) {
  using namespace tmeter::app;
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "plugin") return plugin_command({argv + 2, argv + argc});
  if (first == "config") return config_command({argv + 2, argv + argc});
  return analyse_command({argv + 1, argv + argc});
}

}  // namespace

int main(int argc, char** argv) {
  int status = 1;
  try {
    status = run(argc, argv);
  } catch (const tmeter::core::Error& e) {
    std::cerr << "tmeter: " << e.what() << "\n";
    status = e.exit_status();
  } catch (const std::bad_alloc&) {
    std::cerr << "tmeter: out of memory\n";
  } catch (const std::exception& e) {
    std::cerr << "tmeter: internal error: " << e.what() << "\n";
  }
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  // Not `return`: LibTorch's static destructors alone would take 65 ms (docs/benchmarks.md).
  _exit(status);
}
