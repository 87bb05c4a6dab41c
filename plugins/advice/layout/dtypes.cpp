// Element types: float64, which inference hardly ever needs; types with a much higher rate in the
// hardware profile; conversions between float types.
#include <array>
#include <tmeter/cpp/op_class.hpp>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/wording.hpp"
#include "rules.hpp"

namespace layout {
namespace {

using advice::Saving;
using tmeter::DType;
using tmeter::DTypeClass;
using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

/// Smallest ratio of rates that is reported. Our choice.
constexpr double kMinSpeedup = 2;

DType float_type(int32_t id) { return DType(id); }

/// The share of bytes in tensors of one type.
class Share {
 public:
  explicit Share(DType type) : type_(type) {}
  void add(const Value& v) {
    const auto bytes = plugins::bytes_of(v);
    all_ += bytes;
    if (v.dtype() == type_) of_type_ += bytes;
  }
  double value() const { return all_ > 0 ? of_type_ / all_ : 0; }

 private:
  DType type_;
  double of_type_ = 0, all_ = 0;
};

/// The shares of the node's reads and writes that a smaller type saves.
advice::Traffic traffic_shares_saved(const Node& node, DType from, DType to) {
  const double smaller = 1 - static_cast<double>(to.bytes()) / static_cast<double>(from.bytes());
  Share read(from), written(from);
  plugins::for_each_input(node, [&](const Value& v) { read.add(v); });
  for (size_t i = 0; i < node.result_count(); ++i)
    plugins::for_each_tensor(node.result(i), [&](const Value& v) { written.add(v); });
  return {read.value() * smaller, written.value() * smaller};
}

/// The savings if the tensors of type `from` were of type `to`.
std::vector<Saving> savings_in(DType from, DType to, Model& model) {
  std::vector<Saving> out;
  for (const auto& node : model.graph.nodes()) {
    const auto less = traffic_shares_saved(node, from, to);
    if (less.all() == 0) continue;
    auto saving = model.estimator.converted(node, from, to, less);
    if (saving && saving->saved.all() > 0) out.push_back(std::move(*saving));
  }
  return out;
}

double stored_in(const tmeter::Graph& graph, DType type) {
  double bytes = 0;
  for (const auto& t : graph.tensors())
    if (t.is_parameter() && !t.is_tied() && t.dtype() == type) bytes += plugins::bytes_of(t);
  return bytes;
}

double stored(const tmeter::Graph& graph) {
  double bytes = 0;
  for (const auto& t : graph.tensors())
    if (t.is_parameter() && !t.is_tied() && t.dtype().bytes() > 0) bytes += plugins::bytes_of(t);
  return bytes;
}

void add_with_totals(tmeter::Finding& f, std::span<const Saving> savings, Model& model) {
  model.estimator.report_totals(f, savings);
  model.call.add(f);
}

void report_float64(Model& model) {
  const auto from = float_type(TMETER_DTYPE_FLOAT64), to = float_type(TMETER_DTYPE_FLOAT32);
  const double weights = stored_in(model.graph, from), all = stored(model.graph);
  const auto savings = savings_in(from, to, model);
  if (!model.estimator.are_worthwhile(savings, model.min_share) && weights <= model.min_share * all)
    return;
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "float64";
  f.text = plugins::count_of(savings.size(), "operator") +
           (savings.size() == 1 ? " computes" : " compute") + " in float64; in float32";
  f.evidence =
      advice::bytes_text(weights) + " of " + advice::bytes_text(all) + " of parameters are float64";
  f.action = "model.float(); convert inputs and constants, too (NumPy makes float64 by default)";
  if (weights > 0) f.changes.push_back({"param_bytes", all, all - weights / 2});
  add_with_totals(f, savings, model);
}

/// The rate of exactly this type; a substitute would show no saving.
std::optional<double> rate_of(const Model& model, machine::Profile& profile, OpClass kind,
                              DType type) {
  const auto lookup = [&](const std::string& key) -> std::optional<double> {
    double value = 0;
    return model.call.hardware_number(key, value) ? std::optional(value) : std::nullopt;
  };
  const auto found = profile.value_for(lookup, machine::Family::kPeakMac, kind, type);
  return found && found->type == type ? std::optional(found->value) : std::nullopt;
}

/// The first 16-bit type in which products are much faster than in float32.
std::optional<DType> faster_type(const Model& model) {
  machine::Profile profile;
  const auto now = rate_of(model, profile, OpClass::kMatmul, float_type(TMETER_DTYPE_FLOAT32));
  for (const int32_t id : {TMETER_DTYPE_BFLOAT16, TMETER_DTYPE_FLOAT16}) {
    const auto then = rate_of(model, profile, OpClass::kMatmul, float_type(id));
    if (now && then && *then >= kMinSpeedup * *now) return float_type(id);
  }
  return std::nullopt;
}

void report_faster_type(Model& model) {
  const auto to = faster_type(model);
  if (!to) return;
  const auto from = float_type(TMETER_DTYPE_FLOAT32);
  const auto savings = savings_in(from, *to, model);
  if (!model.estimator.are_worthwhile(savings, model.min_share)) return;
  const auto name = std::string(to->name());
  const double weights = stored_in(model.graph, from), all = stored(model.graph);
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "lower-precision";
  f.text = "in " + name + " instead of float32";
  f.evidence = plugins::count_of(savings.size(), "operator") +
               " of float32; conversions are not counted, the accuracy is not estimated";
  f.action = "model.to(torch." + name + "), or torch.autocast(device, dtype=torch." + name +
             "), which keeps sensitive operators in float32; measure the accuracy";
  if (weights > 0) f.changes.push_back({"param_bytes", all, all - weights / 2});
  add_with_totals(f, savings, model);
}

/// float32 products run on the vector units unless TF32 is allowed; for convolutions it is allowed
/// by default. A profile with different rates for the two shows the difference.
void report_tf32(Model& model) {
  machine::Profile profile;
  const auto type = float_type(TMETER_DTYPE_FLOAT32);
  const auto products = rate_of(model, profile, OpClass::kMatmul, type);
  const auto convolutions = rate_of(model, profile, OpClass::kConvolution, type);
  if (!products || !convolutions || *convolutions < kMinSpeedup * *products) return;
  std::vector<Saving> savings;
  for (const auto& node : model.graph.nodes()) {
    if (tmeter::op_class(node.op()) != OpClass::kMatmul) continue;
    if (auto saving = model.estimator.faster_by(node, type, *convolutions / *products))
      savings.push_back(std::move(*saving));
  }
  if (!model.estimator.are_worthwhile(savings, model.min_share)) return;
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "allow-tf32";
  f.text = plugins::count_of(savings.size(), "float32 product") +
           " in TF32, as convolutions are by default";
  const auto rate = [](double v) { return tmeter::scaled(v, TMETER_UNIT_COUNT, "").text(); };
  f.evidence = rate(*convolutions) + " MAC/s at peak instead of " + rate(*products) +
               "; TF32 keeps 10 bits of the factors' mantissas";
  f.action = "torch.set_float32_matmul_precision(\"high\")";
  add_with_totals(f, savings, model);
}

bool is_float(DType type) {
  return type.kind() == DTypeClass::kFloat && type.id() != TMETER_DTYPE_FLOAT64;
}

/// "float32 → bfloat16 in LlamaRMSNorm". The rule float64 covers conversions of float64.
void report_conversions(Model& model) {
  constexpr std::array<std::string_view, 3> kCasts{"to", "_to_copy", "type_as"};
  std::vector<Saving> savings;
  for (const auto& node : model.graph.nodes()) {
    const auto name = tmeter::base_name(node.op());
    if (std::find(kCasts.begin(), kCasts.end(), name) == kCasts.end() || node.result_count() != 1)
      continue;
    const auto from = node.arg("self").dtype(), to = node.result(0).dtype();
    if (from == to || !is_float(from) || !is_float(to)) continue;
    auto saving = model.estimator.removed({node});
    if (!saving) continue;
    saving->kind = std::string(from.name()) + " → " + std::string(to.name()) +
                   advice::in_module(node.call().module());
    savings.push_back(std::move(*saving));
  }
  if (!model.estimator.are_worthwhile(savings, model.min_share)) return;
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "mixed-dtypes";
  f.text = plugins::count_of(savings.size(), "conversion") + " between float types";
  f.action =
      "give inputs and constants the type of the weights; for norms that compute in float32 on "
      "purpose, torch.nn.functional.rms_norm and layer_norm do so inside one operator";
  model.estimator.report(f, savings);
  model.call.add(f);
}

}  // namespace

void report_dtypes(Model& model) {
  report_float64(model);
  report_tf32(model);
  report_faster_type(model);
  report_conversions(model);
}

}  // namespace layout
