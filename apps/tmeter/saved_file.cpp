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
  try {
    return read_report(file.bytes());
  } catch (const Error& e) {
    throw Error(e.kind(), printable(path) + ": " + e.what());
  }
}

}  // namespace tmeter::app
