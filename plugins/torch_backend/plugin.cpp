// torch-backend: the loader of TorchScript archives and the executor, which runs models. Sizes for
// inputs other than the recorded ones are the plugin resize's.
#include <tmeter/cpp/plugin.hpp>

#include "executor/prepare.hpp"
#include "operators/torch_version.hpp"
#include "torchscript/load_model.hpp"

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.torch-backend",
        .version = "1.0.0",
        .description = "Reads TorchScript models with LibTorch, without their weights; runs models",
    }),
    [](tmeter::Registrar& r) {
      tmeter::torch_backend::require_built_torch();
      r.option({.key = "timeout",
                .type = TMETER_OPTION_FLOAT,
                .default_value = "60",
                .text = "seconds after which the run of the model is stopped",
                .min = 0.1,
                .max = 86400});
      r.option({.key = "max-operators",
                .type = TMETER_OPTION_INT,
                .default_value = "1000000",
                .text = "operators after which the run of the model is stopped",
                .min = 1,
                .max = 9e6});
      r.option({.key = "max-memory",
                .type = TMETER_OPTION_INT,
                .default_value = "8192",
                .text = "MiB that a run with real weights may take; only models whose control "
                        "flow depends on data are run with them",
                .min = 1,
                .max = 1e9});
      r.option({.key = "op-library",
                .text =
                    "libraries with operators that LibTorch lacks, separated by ':', for loading "
                    "TorchScript; --op-library sets it"});
      r.option(
          {.key = "real-values",
           .type = TMETER_OPTION_INT,
           .default_value = "0",
           .text =
               "above 0: TorchScript in which sizes depend on data is recorded in a run with its "
               "weights on this many threads, instead of with the largest sizes; --inference "
               "sets it",
           .min = 0,
           .max = 1024});
      r.option(
          {.key = "output-digest",
           .type = TMETER_OPTION_BOOL,
           .default_value = "false",
           .text = "run the model once more and report type, shape and SHA-256 of each output"});
      r.option(
          {.key = "output-values",
           .type = TMETER_OPTION_INT,
           .default_value = "0",
           .text =
               "N above 0: run the model once more and report the first N elements of each output",
           .min = 0,
           .max = 1000});
      r.loader("torchscript", "TorchScript archive", {{"zip:*/constants.pkl zip:*/code/*", 90}},
               tmeter::torch_backend::load_model, "LibTorch");
      tmeter::executor<tmeter::torch_backend::prepare>(r, "LibTorch");
    })
