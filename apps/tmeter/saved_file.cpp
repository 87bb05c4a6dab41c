#include "apps/tmeter/saved_file.hpp"

#include "core/base/error.hpp"
#include "core/base/mapped_file.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/process/activity.hpp"

namespace tmeter::app {
using namespace core;

SavedReport open_report(const std::string& path) {
  activity().stage = Stage::kReading;
  const MappedFile file(path);
  if (const auto start = file.bytes().find_first_not_of(" \t\r\n");
      start == std::string_view::npos || file.bytes()[start] != '{')
    throw Error(ErrorKind::kModel,
                printable(path) +
                    ": this is not a saved report, which is a JSON object; `tmeter MODEL` analyses a "
                    "model, and `tmeter MODEL --report json=FILE` saves the report");
  try {
    return read_report(file.bytes());
  } catch (const Error& e) {
    throw Error(e.kind(), printable(path) + ": " + e.what());
  }
}

}  // namespace tmeter::app
