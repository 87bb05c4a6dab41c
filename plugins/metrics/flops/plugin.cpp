// The plugin `flops`: multiply-accumulates, other arithmetic, and FLOPs by a named convention.
//
// The rules are in ops/, one file per family of operators; convention.cpp and fvcore.cpp turn their
// values into FLOPs.
#include <memory>

#include "bit_ops.hpp"
#include "convention.hpp"
#include "ops/ops.hpp"
#include "plugins/common/options.hpp"

namespace {

using tmeter::Call;
using tmeter::ModuleCall;
using tmeter::Node;
using tmeter::Registrar;

void add_metrics(Registrar& r) {
  r.metric({.id = flops::kMacs,
            .title = "MACs",
            .unit = "MAC",
            .unit_kind = TMETER_UNIT_OP,
            .convention = "1 MAC = one multiplication and one addition, of convolutions, matrix "
                          "products, attention and recurrent layers; bias not counted, attention "
                          "in full, causal or not",
            .description = "Multiply-accumulates; the same under every FLOP convention"});
  r.metric({.id = flops::kOther,
            .title = "Other FLOPs",
            .unit = "FLOP",
            .unit_kind = TMETER_UNIT_OP,
            .flags = TMETER_METRIC_DETAIL,
            .convention = "all arithmetic other than MACs: bias, norms, activations, softmax, "
                          "pooling, elementwise, reductions, interpolation, gates; one per "
                          "operation (docs/conventions.md)",
            .description = "What the convention \"full\" adds to 2 FLOPs per MAC"});
  r.metric({.id = "flops",
            .title = "FLOPs",
            .unit = "FLOP",
            .unit_kind = TMETER_UNIT_OP,
            .flags = TMETER_METRIC_COVERAGE,
            .convention = flops::text_of(flops::Convention::kTorch),
            .description = "Floating-point operations by the chosen convention"});
}

void add_madd(Registrar& r) {
  r.metric({.id = "madd",
            .title = "MAdd",
            .unit = "FLOP",
            .unit_kind = TMETER_UNIT_OP,
            .flags = TMETER_METRIC_DETAIL | TMETER_METRIC_ON_REQUEST,
            .convention =
                "multiplications and additions as in torchstat 0.0.7's MAdd: 2 per MAC, one "
                "addition less for each result that adds no bias, linear layers without "
                "bias, plus batch norms, ReLU, softmax and pooling; 2 per MAC for other operators "
                "(docs/conventions.md)",
            .description = "torchstat's column MAdd"});
  r.op("*").handle("madd", flops::madd_of);
}

void add_bit_ops(Registrar& r) {
  r.metric({.id = flops::kBitOps,
            .title = "bit operations",
            .unit = "BOP",
            .unit_kind = TMETER_UNIT_OP,
            .flags = TMETER_METRIC_DETAIL,
            .convention = "MACs × bits of the weight operand × bits of the activation operand (van "
                          "Baalen et al., NeurIPS 2020); bits by element type, by the operator's "
                          "name where weights are packed, and through dequantize",
            .description = "Multiply-accumulates weighted by the widths of the factors"});
  r.op("*").handle(flops::kBitOps, flops::bit_ops);
  r.module_type("*", flops::kBitOps, flops::bit_ops_of_call, 0, flops::kMacs);
}

void add_options(Registrar& r) {
  r.option(plugins::choice_option(
      "convention", flops::kConventionNames,
      "how FLOPs follow from MACs: 2 per MAC (torch), fvcore's table, 1 per MAC (torchvision), "
      "everything (full), or another tool's formulas"));
  r.option(plugins::choice_option(
      "causal", "full half",
      "FLOPs of attention called with is_causal: of all scores (full), or of those "
      "its mask leaves (half)"));
}

void add_flops(Registrar& r) {
  const auto chosen = std::make_shared<flops::Choice>();
  r.configure([chosen](Call& call) {
    *chosen = {flops::convention_of(call.option_text("convention")),
               call.option_text("causal") == "half"};
    call.set_convention("flops", flops::text_of(*chosen));
    flops::look_for_dequantize(call.graph());
  });
  r.op("*").handle(
      "flops", [chosen](const Node& n, Call& call) { return flops::flops_of(n, *chosen, call); });
  const auto of_call = [chosen](const tmeter::Graph&, const ModuleCall& m, Call& call) {
    return flops::flops_of_call(m, *chosen, call);
  };
  r.module_type("*", "flops", of_call, 0, "macs other_flops");
}

void setup(Registrar& r) {
  r.handlers_by_signature();
  add_metrics(r);
  add_options(r);
  add_flops(r);
  add_bit_ops(r);
  add_madd(r);
  flops::register_attention(r);
  flops::register_conv(r);
  flops::register_einsum(r);
  flops::register_elementwise(r);
  flops::register_embedding(r);
  flops::register_families(r);
  flops::register_fft(r);
  flops::register_interpolation(r);
  flops::register_matmul(r);
  flops::register_normalization(r);
  flops::register_pooling(r);
  flops::register_quantized(r);
  flops::register_recurrent(r);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        "org.tmeter.flops", "1.0.0", "MACs and FLOPs per operator, by a named convention", {}, {}}),
    [](Registrar& r) { setup(r); })
