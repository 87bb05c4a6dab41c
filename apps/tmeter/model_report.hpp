// From a file to its report: a model's, or one that was saved.
#pragma once
#include <memory>
#include <string>

#include "apps/tmeter/session.hpp"
#include "core/plugin_host/source.hpp"
#include "core/report_reader/saved_report.hpp"

namespace tmeter::app {

/// Throws core::Error(kModel) that begins with the path.
core::SavedReport open_report(const std::string& path);

/// Reads the model and runs the plugins on it. What the command line says of the model (--input,
/// --bind, --sweep) is taken from it, but not its path. `names`: ids of the plugins to run, to
/// which those are added that handle an operator of this very model. `start`: when the run began.
/// `source`, where given, receives the model's files, which the tensors of the graph lie in.
core::SavedReport report_of_model(Session& session, const std::string& path,
                                  std::vector<std::string> names, Session::Clock::time_point start,
                                  std::shared_ptr<const tmeter_source>* source = nullptr);

}  // namespace tmeter::app
