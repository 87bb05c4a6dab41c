// resize: sizes of exported programs for inputs other than the recorded ones. A .pt2 file that
// fixes a size is replayed with LibTorch's operators on tensors without values.
#include <tmeter/cpp/plugin.hpp>

#include "operators/torch_version.hpp"
#include "plugins/common/options.hpp"
#include "resize.hpp"

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.resize",
        .version = "1.0.0",
        .description =
            "Computes the sizes of exported programs for inputs other than the recorded ones, "
            "with LibTorch",
    }),
    [](tmeter::Registrar& r) {
      tmeter::torch_backend::require_built_torch();
      r.option(plugins::real_option("timeout", "60", 0.1, 86400,
                                    "seconds after which the computation of sizes stops"));
      r.option(plugins::integer_option("max-operators", "1000000", 1, 9e6,
                                       "operators after which the computation of sizes stops"));
      r.option(plugins::integer_option(
          "max-memory", "8192", 1, 1e9,
          "MiB by which the process may grow while the sizes are computed"));
      r.propagator("LibTorch", tmeter::resize::resize);
    })
