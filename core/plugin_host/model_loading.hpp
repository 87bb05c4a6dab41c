// From a file to a graph: chooses the loader and lets it build.
#pragma once
#include <memory>

#include "core/base/error.hpp"
#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/plugin_host/source.hpp"

namespace tmeter::core {

struct LoadedModel {
  std::unique_ptr<Graph> graph;
  Plugin* loader = nullptr;
  Plugin* propagator = nullptr;  // if the sizes were computed for other inputs
};

/// The loader with the highest matching score reads the file, or the next one if it
/// declines. Throws Error(kModel) when no loader reads the file (with a guess of its kind), or when
/// reading fails (with the file's name).
LoadedModel load_model(Registry& registry, const tmeter_request& request, const RunContext& run);

/// An error about the model – it cannot be read or run, or a plugin failed on it – with the file's
/// name as a prefix, unless it already begins with it.
Error about_model(const Error& e, const std::string& path);

/// Whether all conditions of a match hold (sdk abi/loader.h).
bool conditions_hold(const std::string& conditions, const tmeter_source& source);

}  // namespace tmeter::core
