// From a model file to its report.
#pragma once
#include <memory>

#include "apps/tmeter/session.hpp"
#include "core/plugin_host/source.hpp"
#include "core/report_reader/saved_report.hpp"

namespace tmeter::app {

/// Reads the model and runs the plugins on it. What the command line says of the model (--input,
/// --bind, --sweep) is taken from it, but not its path. `names`: ids of the plugins to run, to
/// which those are added that handle an operator of this very model. `start`: when the run began.
/// `source`, where given, receives the model's files, which the tensors of the graph lie in.
core::SavedReport report_of_model(Session& session, const std::string& path,
                                  std::vector<std::string> names, Session::Clock::time_point start,
                                  std::shared_ptr<const tmeter_source>* source = nullptr);

}  // namespace tmeter::app
