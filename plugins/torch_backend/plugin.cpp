// torch-backend: everything of tmeter that needs LibTorch. The loader of TorchScript archives, and
// sizes of exported programs for other inputs than recorded.
#include <tmeter/cpp/plugin.hpp>

#include "load_model.hpp"
#include "propagate/propagate.hpp"

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.torch-backend",
        .version = "1.0.0",
        .description = "Reads TorchScript models with LibTorch, without their weights; works out "
                       "sizes for other inputs",
    }),
    [](tmeter::Registrar& r) {
      r.option({.key = "timeout",
                .type = TMETER_OPTION_FLOAT,
                .default_value = "60",
                .text = "seconds after which running the model is given up",
                .min = 0.1,
                .max = 86400});
      r.option({.key = "max-operators",
                .type = TMETER_OPTION_INT,
                .default_value = "1000000",
                .text = "operators after which running the model is given up",
                .min = 1,
                .max = 9e6});
      r.option({.key = "max-memory",
                .type = TMETER_OPTION_INT,
                .default_value = "8192",
                .text = "MiB that a run with real weights may take; only models in which data "
                        "decides where the program goes are run so",
                .min = 1,
                .max = 1e9});
      r.loader("torchscript", "TorchScript archive", {{"zip:*/constants.pkl zip:*/code/*", 90}},
               tmeter::torch_backend::load_model, "LibTorch");
      r.propagator("LibTorch", tmeter::torch_backend::propagate);
    })
