// resize: sizes of exported programs for inputs other than the recorded ones. A .pt2 file that
// fixes a size is replayed with LibTorch's operators on tensors without values.
#include <tmeter/cpp/plugin.hpp>

#include "operators/torch_version.hpp"
#include "resize.hpp"

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.resize",
        .version = "1.0.0",
        .description =
            "Works out the sizes of exported programs for inputs other than the recorded "
            "ones, with LibTorch",
    }),
    [](tmeter::Registrar& r) {
      tmeter::torch_backend::require_built_torch();
      r.option({.key = "timeout",
                .type = TMETER_OPTION_FLOAT,
                .default_value = "60",
                .text = "seconds after which working out the sizes is given up",
                .min = 0.1,
                .max = 86400});
      r.option({.key = "max-operators",
                .type = TMETER_OPTION_INT,
                .default_value = "1000000",
                .text = "operators after which working out the sizes is given up",
                .min = 1,
                .max = 9e6});
      r.option({.key = "max-memory",
                .type = TMETER_OPTION_INT,
                .default_value = "8192",
                .text = "MiB by which the process may grow while the sizes are worked out",
                .min = 1,
                .max = 1e9});
      r.propagator("LibTorch", tmeter::resize::resize);
    })
