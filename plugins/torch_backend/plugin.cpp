// torch-backend: the loader of TorchScript archives and the executor, which runs models. The plugin
// resize computes sizes for inputs other than the recorded ones.
#include <tmeter/cpp/plugin.hpp>

#include "executor/prepare.hpp"
#include "operators/torch_version.hpp"
#include "plugins/common/options.hpp"
#include "torchscript/load_model.hpp"

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.torch-backend",
        .version = "1.0.0",
        .description = "Reads TorchScript models with LibTorch, without their weights; runs models",
    }),
    [](tmeter::Registrar& r) {
      tmeter::torch_backend::require_built_torch();
      r.option(plugins::real_option("timeout", "60", 0.1, 86400,
                                    "seconds after which the run of the model is stopped"));
      r.option(plugins::integer_option("max-operators", "1000000", 1, 9e6,
                                       "operators after which the run of the model is stopped"));
      r.option(plugins::integer_option("max-memory", "8192", 1, 1e9,
                                       "MiB that a run with real weights may take; only models "
                                       "whose control flow depends on data are run with them"));
      r.option(plugins::text_option("op-library",
                                    "libraries with operators that LibTorch lacks, separated by "
                                    "':', for loading TorchScript; --op-library sets it"));
      r.option(plugins::integer_option(
          "real-values", "0", 0, 1024,
          "above 0: TorchScript in which sizes depend on data is recorded in a run with its "
          "weights on this many threads, instead of with the largest sizes; --inference sets it"));
      r.option(plugins::flag_option(
          "output-digest", false,
          "run the model once more and report type, shape and SHA-256 of each output"));
      r.option(plugins::integer_option(
          "output-values", "0", 0, 1000,
          "N above 0: run the model once more and report the first N elements of each output"));
      r.loader("torchscript", "TorchScript archive", {{"zip:*/constants.pkl zip:*/code/*", 90}},
               tmeter::torch_backend::load_model, "LibTorch");
      tmeter::executor<tmeter::torch_backend::prepare>(r, "LibTorch");
    })
