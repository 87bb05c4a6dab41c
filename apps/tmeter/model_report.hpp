// From a file to its report: of a model, or a saved one.
#pragma once
#include <memory>
#include <string>

#include "apps/tmeter/session.hpp"
#include "core/plugin_host/source.hpp"
#include "core/report_reader/saved_report.hpp"

namespace tmeter::app {

/// Throws core::Error(kModel) that begins with the path.
core::SavedReport open_report(const std::string& path);

/// Reads the model and runs the plugins on it. The command line supplies --input,
/// --bind and --sweep, but not the path. `names`: ids of the plugins to run, to
/// which those are added that handle an operator of this model. `start`: the start of the run.
/// `source`, if given, receives the model's files, which contain the tensors of the graph.
core::SavedReport report_of_model(Session& session, const std::string& path,
                                  std::vector<std::string> names, Session::Clock::time_point start,
                                  std::shared_ptr<const tmeter_source>* source = nullptr);

}  // namespace tmeter::app
