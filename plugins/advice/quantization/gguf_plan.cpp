#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "findings.hpp"
#include "wording.hpp"

namespace quantization {
namespace {

constexpr std::string_view kSpace = "gguf";
constexpr size_t kMaxTextBytes = 7'000;  // limit for a finding of 8 KiB

/// A type of ggml. Its error is estimated from that of a scheme with the same or larger groups.
struct GgmlType {
  std::string_view name;    // llama-quantize's name
  int64_t elements, bytes;  // of a block
  std::string_view scheme;
  double gain;  // dB over it: 20 log10 of the ratio of their numbers of steps
};

// 15 steps of 4 bits, 31 of 5 bits, 63 of 6 bits, 255 of 8 bits.
constexpr double kFiveBits = 6.3, kSixOfEightBits = -12.1;
constexpr GgmlType kOfLongRows[] = {{"q4_K", 256, 144, "int4_group32_asym", 0},
                                    {"q5_K", 256, 176, "int4_group32_asym", kFiveBits},
                                    {"q6_K", 256, 210, "int8_group32", kSixOfEightBits},
                                    {"q8_0", 32, 34, "int8_group32", 0}};
/// Rows that are not multiples of 256: llama-quantize falls back to such types.
constexpr GgmlType kOfShortRows[] = {{"q4_0", 32, 18, "int4_group32", 0},
                                     {"q5_0", 32, 22, "int4_group32", kFiveBits},
                                     {"q5_1", 32, 24, "int4_group32_asym", kFiveBits},
                                     {"q8_0", 32, 34, "int8_group32", 0}};
constexpr int64_t kMinSensitiveBits = 6;  // q6_K in llama.cpp's own mixtures

/// Tensors that llama-quantize keeps unchanged (llama-quant.cpp of commit 007dbbf,
/// tensor_allows_quantization).
constexpr std::string_view kKept[] = {"_norm.weight",
                                      "ffn_gate_inp.weight",
                                      "ffn_gate_tid2eid.weight",
                                      "altup",
                                      "laurel",
                                      "per_layer_model_proj",
                                      "position_embd",
                                      "token_types.weight",
                                      "ssm_conv1d",
                                      "shortconv.conv.weight",
                                      "indexer.k_proj.weight",
                                      "indexer.q_proj.weight",
                                      "time_mix_first.weight",
                                      "time_mix_w0.weight",
                                      "time_mix_w1.weight",
                                      "time_mix_w2.weight",
                                      "time_mix_v0.weight",
                                      "time_mix_v1.weight",
                                      "time_mix_v2.weight",
                                      "time_mix_a0.weight",
                                      "time_mix_a1.weight",
                                      "time_mix_a2.weight",
                                      "time_mix_g1.weight",
                                      "time_mix_g2.weight",
                                      "time_mix_decay_w1.weight",
                                      "time_mix_decay_w2.weight",
                                      "time_mix_lerp_fused.weight",
                                      "attn_rel_b.weight",
                                      "sam.pos_embd",
                                      "sam.neck.",
                                      "sam.net_",
                                      ".rel_pos",
                                      ".patch_embd",
                                      ".patch_merger",
                                      "a.rvq.codebook",
                                      "mm.a.code_embd"};

bool is_quantized(std::string_view name) {
  return name.ends_with("weight") &&
         std::none_of(std::begin(kKept), std::end(kKept),
                      [&](auto part) { return name.find(part) != name.npos; });
}

std::span<const GgmlType> types_for(const Weight& w) {
  const int64_t row = w.layout.dims.back();
  if (row % 256 == 0) return kOfLongRows;
  return row % 32 == 0 ? std::span<const GgmlType>(kOfShortRows) : std::span<const GgmlType>();
}
int64_t bytes_of(const GgmlType& type, const Weight& w) {
  return w.layout.elements / type.elements * type.bytes;
}
double sqnr_of(const GgmlType& type, const Weight& w) {
  return w.measured.sqnr[*scheme_at(type.scheme)] + type.gain;
}

std::string_view stored_type(const tmeter::Tensor& t) {
  switch (t.dtype().id()) {
    case TMETER_DTYPE_FLOAT16:
      return "f16";
    case TMETER_DTYPE_BFLOAT16:
      return "bf16";
    default:
      return "f32";
  }
}

struct GgufPlan {
  std::map<const Report*, const GgmlType*> types;  // null: as stored
  int64_t bytes = 0;                               // bytes of all tensors with their padding
  double least_sqnr = INFINITY;
};

class Planner {
 public:
  Planner(const Collection& reports, const tmeter::Graph& graph)
      : reports_(reports), graph_(graph) {
    const auto stated = graph.metadata(kSpace, "general.alignment");
    alignment_ = std::max<int64_t>(stated ? stated->as_int(32) : 32, 1);
  }

  int64_t padded(int64_t bytes) const { return (bytes + alignment_ - 1) / alignment_ * alignment_; }

  GgufPlan plan(double least) const {
    GgufPlan out;
    std::map<size_t, int64_t> bytes;
    for (const auto& r : reports_) {
      if (!is_quantized(r.weight.name)) continue;
      const auto* type = smallest(r.weight, least);
      out.types[&r] = type;
      if (!type) continue;
      bytes[r.weight.tensor] = bytes_of(*type, r.weight);
      out.least_sqnr = std::min(out.least_sqnr, sqnr_of(*type, r.weight));
    }
    for (const auto& t : graph_.tensors()) {
      const auto found = bytes.find(t.index());
      out.bytes += padded(found == bytes.end() ? t.bytes().value() : found->second);
    }
    return out;
  }

  /// The plan with the highest least SQNR that fits in `most_bytes`; else the smallest one.
  GgufPlan plan_within(int64_t most_bytes) const {
    std::set<double> all;
    for (const auto& r : reports_)
      for (const auto& type : types_for(r.weight)) all.insert(sqnr_of(type, r.weight));
    std::vector<double> limits(all.begin(), all.end());
    std::erase_if(limits, [](double x) { return !std::isfinite(x); });
    // Bytes grow with the limit.
    const auto first = std::partition_point(limits.begin(), limits.end(), [&](double limit) {
      return plan(limit).bytes <= most_bytes;
    });
    return plan(first == limits.begin() ? -INFINITY : *std::prev(first));
  }

 private:
  static const GgmlType* smallest(const Weight& w, double least) {
    const GgmlType* best = nullptr;
    if (!w.measured.finite || w.measured.zero) return best;
    int64_t bytes = w.stored;
    for (const auto& type : types_for(w)) {
      if (!w.sensitive.empty() && type.bytes * 8 / type.elements < kMinSensitiveBits) continue;
      if (!(sqnr_of(type, w) >= least) || bytes_of(type, w) >= bytes) continue;
      best = &type;
      bytes = bytes_of(type, w);
    }
    return best;
  }

  const Collection& reports_;
  const tmeter::Graph& graph_;
  int64_t alignment_;
};

std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::string_view("\\.^$|()[]{}*+?").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// "--tensor-type '^blk\.(0|1)\.attn_q\.weight$=q4_K'": one for each kind of weight and type.
std::vector<std::string> arguments(const GgufPlan& plan) {
  using Blocks = std::vector<std::string>;
  // name without the block's number → type → numbers
  std::map<std::string, std::map<std::string, Blocks>> by_kind;
  std::vector<std::string> out;
  const auto add = [&](const std::string& pattern, std::string_view type) {
    out.push_back("--tensor-type '^" + pattern + "$=" + std::string(type) + "'");
  };
  for (const auto& [report, type] : plan.types) {
    const std::string_view name = report->weight.name;
    const std::string text(type ? type->name : stored_type(report->tensor));
    const auto end = name.starts_with("blk.") ? name.find('.', 4) : name.npos;
    if (end == name.npos)
      add(escaped(name), text);
    else
      by_kind[std::string(name.substr(end + 1))][text].emplace_back(name.substr(4, end - 4));
  }
  for (const auto& [kind, types] : by_kind)
    for (const auto& [type, blocks] : types) {
      std::string numbers = "[0-9]+";
      if (types.size() > 1) {
        numbers = "(";
        for (const auto& b : blocks) numbers += (numbers.size() > 1 ? "|" : "") + b;
        numbers += ")";
      }
      add("blk\\." + numbers + "\\." + escaped(kind), type);
    }
  std::sort(out.begin(), out.end());
  return out;
}

std::string types_text(const GgufPlan& plan) {
  std::map<std::string, size_t> counts;
  for (const auto& [report, type] : plan.types)
    ++counts[std::string(type ? type->name : stored_type(report->tensor))];
  std::string out;
  for (const auto& [type, count] : counts)
    out += (out.empty() ? "" : ", ") + type + ": " + count_of(count, "weight");
  return out;
}

}  // namespace

void report_gguf_plan(const Collection& reports, const Settings& settings, int64_t most_bytes,
                      const tmeter::Graph& graph, tmeter::Call& call) {
  if (!graph.metadata(kSpace, "general.architecture")) return;
  for (const auto& t : graph.tensors())
    if (t.is_encoded()) return;
  const Planner planner(reports, graph);
  const auto plan =
      most_bytes > 0 ? planner.plan_within(most_bytes) : planner.plan(settings.rules.least_sqnr);
  int64_t before = 0;
  for (const auto& t : graph.tensors()) before += planner.padded(t.bytes().value());
  if (plan.bytes >= before) return;
  tmeter::Finding f;
  f.rule = "gguf-plan";
  f.severity = TMETER_SEVERITY_ADVICE;
  f.text = "llama-quantize can make the tensors " + bytes_text(static_cast<double>(plan.bytes)) +
           " instead of " + bytes_text(static_cast<double>(before));
  if (most_bytes > 0 && plan.bytes > most_bytes)
    f.text += ", which is above gguf-bytes (" + std::to_string(most_bytes) +
              "): these types are the smallest";
  f.evidence = std::to_string(plan.bytes) + " bytes after the header, padding included; " +
               types_text(plan) + "; lowest SQNR about " + decibels(plan.least_sqnr) +
               ", estimated from schemes of equal groups: K types have finer scales";
  std::string text;
  const auto add = [&] {
    f.action = "llama-quantize" + text + " IN.gguf OUT.gguf Q4_K_M";
    call.add(f);
    f.text = "further arguments of the same llama-quantize command";
    f.evidence = {};
    text.clear();
  };
  for (const auto& argument : arguments(plan)) {
    if (!text.empty() && text.size() + argument.size() > kMaxTextBytes) add();
    text += " " + argument;
  }
  add();
}

}  // namespace quantization
