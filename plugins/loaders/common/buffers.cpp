#include "buffers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>

#include "bad_file.hpp"
#include "json_text.hpp"

namespace loading {
namespace {

struct Row {
  std::string_view ending, buffers, parameters;
};

// clang-format off
constexpr Row kRows[] = {
#include "buffers.inc"
};
// clang-format on
constexpr std::string_view kAllOthers = "*";
// Norms of these types have statistics, weight and bias as buffers (FrozenBatchNorm).
constexpr std::string_view kFrozen =
    "conditional_detr d_fine dab-detr deformable_detr deimv2 detr grounding-dino "
    "mm-grounding-dino pp_doclayout_v2 pp_doclayout_v3 pp_doclayout_v4 rt_detr rt_detr_v2 "
    "table-transformer";
constexpr int kMaxConfigDepth = 4;     // parts of composed models
constexpr size_t kMaxModelTypes = 64;  // real configurations have five
constexpr size_t kMaxConfigBytes = 16 << 20;

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::string_view without_last(std::string_view name) {
  return name.substr(0, name.size() - std::min(name.size(), last_part(name).size() + 1));
}

/// The rows by the last part of their endings.
using Index = std::unordered_map<std::string_view, std::vector<size_t>, tmeter::TextHash>;
const Index& rows_by_name() {
  static const Index index = [] {
    Index out;
    for (size_t i = 0; i < std::size(kRows); ++i) {
      auto ending = kRows[i].ending;
      if (ending.starts_with('^')) ending.remove_prefix(1);
      out[last_part(ending)].push_back(i);
    }
    return out;
  }();
  return index;
}

bool fits(std::string_view ending, std::string_view name) {
  if (ending.starts_with('^')) return name == ending.substr(1);
  return name.ends_with(ending) &&
         (name.size() == ending.size() || name[name.size() - ending.size() - 1] == '.');
}

bool lists(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

bool lists_any(std::string_view words, const std::vector<std::string>& types) {
  return std::any_of(types.begin(), types.end(),
                     [&](const auto& t) { return !t.empty() && lists(words, t); });
}

/// A causal mask, as old checkpoints of GPT-2, GPT-Neo and GPT-J have it: [1, 1, tokens, tokens].
bool is_mask(const tmeter_tensor_desc& t) {
  return t.rank == 4 && t.dims[0] == 1 && t.dims[1] == 1 && t.dims[2] == t.dims[3] && t.dims[2] > 1;
}

void collect_types(json::object o, int depth, std::vector<std::string>& out) {
  for (const auto field : o) {
    if (out.size() == kMaxModelTypes) return;
    json::object part;
    std::string_view text;
    if (field.value.get(part) == simdjson::SUCCESS) {
      if (depth < kMaxConfigDepth) collect_types(part, depth + 1, out);
    } else if ((field.key == "model_type" || field.key == "_class_name" ||
                field.key == "architecture") &&
               field.value.get(text) == simdjson::SUCCESS) {
      out.emplace_back(text);
    }
  }
}

}  // namespace

std::vector<std::string> model_types_beside(const tmeter::Source& source) {
  std::vector<std::string> types;
  try {
    const auto text = source.companion("config.json").bytes();
    json::document document;
    if (text.size() <= kMaxConfigBytes)
      collect_types(as_object(require_json(parse_json(text, false, document), document)), 0, types);
  } catch (const tmeter::Error&) {  // absent
  } catch (const BadFile&) {        // a malformed one names no type
  }
  return types;
}

TensorKinds::TensorKinds(const std::vector<std::string>& types) {
  for (const auto& row : kRows) {
    const bool always = row.buffers == kAllOthers && row.parameters.empty();
    const bool never = row.parameters == kAllOthers && row.buffers.empty();
    const bool in_buffers = lists_any(row.buffers, types),
               in_parameters = lists_any(row.parameters, types);
    const bool buffers_usually = row.parameters != kAllOthers;
    const bool others = row.buffers == kAllOthers || row.parameters == kAllOthers;
    if (in_buffers != in_parameters)
      verdicts_.push_back(in_buffers ? Verdict::kBuffer : Verdict::kParameter);
    else if (always || never || (others && (!types.empty() || row.ending.starts_with('^'))))
      verdicts_.push_back(buffers_usually ? Verdict::kBuffer : Verdict::kParameter);
    else
      verdicts_.push_back(buffers_usually ? Verdict::kPerhapsBuffer : Verdict::kPerhapsParameter);
  }
  frozen_ = lists_any(kFrozen, types) ? Verdict::kBuffer : Verdict::kPerhapsParameter;
}

void TensorKinds::note(std::string_view name) {
  if (name.ends_with(".running_mean")) {
    norms_.try_emplace(std::string(without_last(name)), false);
  } else if (name.ends_with(".num_batches_tracked")) {
    auto& counts = norms_[std::string(without_last(name))];
    counting_ += !counts;
    counts = true;
  }
}

/// PyTorch's norms count batches since 0.4.1, frozen ones do not. In a file with both, that
/// distinguishes them.
TensorKinds::Verdict TensorKinds::verdict_of_norm(std::string_view module) const {
  const auto norm = norms_.find(module);
  if (norm == norms_.end() || norm->second) return Verdict::kParameter;
  return counting_ > 0 ? Verdict::kBuffer : frozen_;
}

TensorKinds::Verdict TensorKinds::verdict_of(const tmeter_tensor_desc& tensor) const {
  if (tensor.dtype == TMETER_DTYPE_BOOL || tensor.dtype == TMETER_DTYPE_INT64)
    return Verdict::kBuffer;
  const auto name = tmeter::to_view(tensor.name);
  const bool all_count = counting_ == norms_.size();
  if (all_count && name.ends_with(".weight")) return Verdict::kParameter;  // most of a model
  const auto last = last_part(name);
  const bool is_bias = last == "bias";
  if (is_bias && is_mask(tensor)) return Verdict::kBuffer;
  if ((is_bias || last == "weight") && !all_count)
    if (const auto v = verdict_of_norm(without_last(name)); v != Verdict::kParameter) return v;
  if (last == "weight") return Verdict::kParameter;
  const auto rows = rows_by_name().find(last);
  if (rows == rows_by_name().end()) return Verdict::kParameter;
  for (const auto i : rows->second)
    if (fits(kRows[i].ending, name)) return verdicts_[i];
  return Verdict::kParameter;
}

bool TensorKinds::is_buffer(const tmeter_tensor_desc& tensor) {
  const auto verdict = verdict_of(tensor);
  if (verdict == Verdict::kBuffer || verdict == Verdict::kParameter)
    return verdict == Verdict::kBuffer;
  const bool as_buffer = verdict == Verdict::kPerhapsBuffer;
  auto& uncertain = as_buffer ? as_buffers_ : as_parameters_;
  if (uncertain.tensors++ == 0) uncertain.first = std::string(tmeter::to_view(tensor.name));
  int64_t elements = 1;
  for (uint64_t i = 0; i < tensor.rank; ++i)
    if (__builtin_mul_overflow(elements, tensor.dims[i], &elements)) elements = INT64_MAX;
  if (__builtin_add_overflow(uncertain.elements, elements, &uncertain.elements))
    uncertain.elements = INT64_MAX;
  return as_buffer;
}

std::string TensorKinds::sentence(const UncertainTensors& uncertain, bool as_buffers) {
  const bool one = uncertain.tensors == 1;
  return std::to_string(uncertain.tensors) + (one ? " tensor, " : " tensors, such as ") +
         in_quotes(uncertain.first) + (one ? ", is counted as a " : ", are counted as ") +
         (as_buffers ? "buffer" : "parameter") + (one ? "" : "s") + "; as " + (one ? "a " : "") +
         (as_buffers ? "parameter" : "buffer") + (one ? "" : "s") + ", the model would have " +
         std::to_string(uncertain.elements) + (as_buffers ? " more" : " fewer") + " parameters";
}

std::string TensorKinds::uncertain_kinds() const {
  std::string out;
  for (const auto* uncertain : {&as_parameters_, &as_buffers_})
    if (uncertain->tensors > 0)
      out += (out.empty() ? "" : "; ") + sentence(*uncertain, uncertain == &as_buffers_);
  if (out.empty()) return out;
  return "the file does not distinguish parameters from buffers, nor does a known model_type in "
         "config.json: " +
         out;
}

}  // namespace loading
