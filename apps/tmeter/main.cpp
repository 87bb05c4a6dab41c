// tmeter: parse → run → print. One place catches errors and turns them into an exit status;
// errors during an analysis end in the supervisor (core/process).
#include <unistd.h>

#include <string>
#include <string_view>

#include "apps/tmeter/commands.hpp"
#include "core/base/error.hpp"
#include "core/process/end_signals.hpp"
#include "core/process/parent.hpp"
#include "core/process/standard_descriptors.hpp"
#include "core/process/terminal.hpp"

namespace {

int run(int argc, char** argv) {
  using namespace tmeter::app;
  const std::string_view first = argc > 1 ? argv[1] : "", second = argc == 3 ? argv[2] : "";
  if (const auto* command = find_command(first)) {
    const bool requests_help = second == "--help" || second == "-h";
    if (requests_help && !command->has_options) return analyse_command({"--help"});
    return command->run({argv + 2, argv + argc});
  }
  const bool is_word = argc >= 2 && access(argv[1], F_OK) != 0;  // and is not a file
  if (is_word && first == "help") return analyse_command({"--help"});
  if (argc == 2 && is_word && first == "version") return analyse_command({"--version"});
  return analyse_command({argv + 1, argv + argc});
}

}  // namespace

int main(int argc, char** argv) {
  using tmeter::core::ErrorKind;
  tmeter::core::occupy_standard_descriptors();
  tmeter::core::end_with_parent();
  tmeter::core::exit_on_signals();
  tmeter::core::Terminal terminal(false);
  try {
    return run(argc, argv);
  } catch (const tmeter::core::Error& e) {
    terminal.message(e.what());
    return e.exit_status();
  } catch (const std::exception& e) {
    terminal.message(std::string("internal error: ") + e.what());
    return static_cast<int>(ErrorKind::kInternal);
  }
}
