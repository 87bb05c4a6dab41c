// Decodes weights that are packed in safetensors files; plugins/encodings/recognition finds
// such weights.
#include "rows.hpp"

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.packed",
        .version = "1.0.0",
        .description = "Decodes packed weights: GPTQ, AWQ, compressed-tensors, fp8, MXFP4, NVFP4, "
                       "bitsandbytes, MLX, HQQ, optimum-quanto",
    }),
    [](tmeter::Registrar& r) {
      packed::add_words(r);
      packed::add_scaled(r);
      packed::add_bitsandbytes(r);
      packed::add_planes(r);
    })
