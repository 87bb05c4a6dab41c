// torch-backend: everything of tmeter that needs LibTorch. The loader of TorchScript archives, and
// sizes of exported programs for other inputs than recorded; real runs.
#include <dlfcn.h>
#include <torch/version.h>

#include <string>
#include <tmeter/cpp/plugin.hpp>

#include "executor/prepare.hpp"
#include "torchscript/load_model.hpp"
#include "resize.hpp"

namespace {

std::string version_text(unsigned major, unsigned minor) {
  return "torch " + std::to_string(major) + "." + std::to_string(minor);
}

/// Another minor than it was compiled for has other layouts: what then happens is anybody's guess.
/// Versions before 2.8 do not tell theirs; most of them lack symbols and are not opened at all.
void require_own_torch() {
  using Version = uint64_t (*)();
  const auto version = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "aoti_torch_abi_version"));
  if (!version) return;
  const auto found = version() >> 48;
  constexpr uint64_t kWanted = TORCH_VERSION_MAJOR << 8 | TORCH_VERSION_MINOR;
  if (found == kWanted) return;
  throw tmeter::Error(TMETER_CANNOT_RUN,
                      "it is built for " + version_text(TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR) +
                          " and finds " + version_text(found >> 8, found & 0xff));
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.torch-backend",
        .version = "1.0.0",
        .description = "Reads TorchScript models with LibTorch, without their weights; works out "
                       "sizes for other inputs",
    }),
    [](tmeter::Registrar& r) {
      require_own_torch();
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
      r.option({.key = "op-library",
                .text = "libraries with operators that LibTorch lacks, separated by ':', for the loading "
                        "of TorchScript; --op-library sets it"});
      r.option({.key = "real-values",
                .type = TMETER_OPTION_INT,
                .default_value = "0",
                .text = "above 0: TorchScript in which sizes follow data is recorded in a run with its "
                        "weights on so many threads, and not with the largest sizes; --inference sets it",
                .min = 0,
                .max = 1024});
      r.option({.key = "output-digest",
                .type = TMETER_OPTION_BOOL,
                .default_value = "false",
                .text = "run the model once more and tell type, shape and SHA-256 of each output"});
      r.loader("torchscript", "TorchScript archive", {{"zip:*/constants.pkl zip:*/code/*", 90}},
               tmeter::torch_backend::load_model, "LibTorch");
      r.propagator("LibTorch", tmeter::torch_backend::propagate);
      tmeter::executor<tmeter::torch_backend::prepare>(r, "LibTorch");
    })
