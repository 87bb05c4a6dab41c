// The command line of `tmeter [options] MODEL`: the only user of Boost.Program_options.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "apps/tmeter/commands.hpp"
#include "core/config/settings.hpp"
#include "core/plugin_host/source.hpp"
#include "core/process/limits.hpp"
#include "core/report/writing.hpp"
#include "core/symbolic/sweep.hpp"

namespace tmeter::app {

struct CommandLine {
  bool help = false, version = false, trusted = false;
  int verbosity = 0;  // -1 quiet … 2
  unsigned threads = 1;
  core::Limits limits;
  std::string model;
  std::string command;  // as a shell would take it: "tmeter model.pt2 --bind s0=8"
  core::Settings settings;
  std::vector<core::InputRequest> inputs;
  std::vector<std::pair<std::string, int64_t>> bindings;
  std::vector<core::SweepAxis> sweep;
  std::vector<std::string> assertions;
  std::map<std::string, std::string, std::less<>> view;
  core::ColorMode color = core::ColorMode::kAuto;
};

/// Throws core::Error(kUsage), naming the nearest valid spelling.
CommandLine parse_command_line(const Arguments& arguments);

std::string help_text();

}  // namespace tmeter::app
