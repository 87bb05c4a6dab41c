// Runs of a model for `tmeter plugin check`: the half of executor and observer that the plugin
// lacks.
#pragma once
#include <tmeter/abi/executor.h>

namespace tmeter::app {

/// For plugins that observe: an executor that computes nothing. By its clock every operator takes 1 µs;
/// in runs of memory each takes 64 bytes, which are given back when the run ends.
const tmeter_executor& clock_executor();

/// For plugins that run models: an observer that wants one run of each kind and keeps nothing.
const tmeter_observer& idle_observer();

}  // namespace tmeter::app
