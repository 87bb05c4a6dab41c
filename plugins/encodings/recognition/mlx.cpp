// MLX: rows of words with a scale and a bias a group (mlx/ops, affine_quantize), or micro-scaled
// floats.
#include <algorithm>
#include <array>
#include <set>

#include "reader.hpp"

namespace packed {
namespace {

constexpr std::string_view kWeight = ".weight";

struct Found {
  const Stored* scales;
  const Stored* biases;
  std::string module;
};

std::optional<Found> parts_of(const Reader& r, const Stored& t) {
  if (t.dtype != TMETER_DTYPE_UINT32 || t.dims.size() < 2 || !t.name.ends_with(kWeight))
    return std::nullopt;
  Found f{nullptr, nullptr, std::string(t.name.substr(0, t.name.size() - kWeight.size()))};
  f.scales = r.find(f.module + ".scales");
  f.biases = r.find(f.module + ".biases");
  if (!f.scales || !same_rows(t, *f.scales) || f.scales->dims.back() < 1) return std::nullopt;
  if (f.biases && f.biases->dims != f.scales->dims) return std::nullopt;
  return f;
}

/// Micro-scaled floats have no biases and scales of one byte; their sizes distinguish them.
struct Mode {
  const char* encoding;
  int64_t bits, group;
  const char* parameters;
};
constexpr std::array<Mode, 3> kModes{{{"mxfp4", 4, 32, ""},
                                      {"nvfp4", 4, 16, "scales=float8_e4m3fn"},
                                      {"mxfp8", 8, 32, "rows=1 columns=32"}}};

bool micro_scaled(Reader& r, const Stored& t, const Found& f) {
  if (f.biases || f.scales->dtype != TMETER_DTYPE_UINT8) return false;
  for (const auto& m : kModes) {
    if (product(t.dims.back(), kWord) != product(f.scales->dims.back(), m.bits * m.group)) continue;
    Packed p{
        std::string(t.name),   t.dims, &t, m.encoding, m.parameters, m.group, m.bits * m.group / 8,
        {{"scales", f.scales}}};
    p.dims.back() = t.dims.back() * kWord / m.bits;
    r.add(std::move(p));
    return true;
  }
  return false;
}

void add(Reader& r, const Stored& t, const Found& f, int64_t bits, int64_t group) {
  Packed p{std::string(t.name),
           t.dims,
           &t,
           "mlx",
           "bits=" + std::to_string(bits) + " group=" + std::to_string(group),
           group,
           bits * group / 8,
           {{"scales", f.scales}, {"biases", f.biases}}};
  p.dims.back() = f.scales->dims.back() * group;
  r.add(std::move(p));
}

bool is_one(const Stored& t, const Stored& scales, int64_t bits, int64_t group) {
  return product(t.dims.back(), kWord) == product(scales.dims.back(), bits * group);
}

/// Bits and groups that fit the shapes.
std::vector<std::pair<int64_t, int64_t>> readings(const Stored& t, const Stored& scales) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const int64_t bits : {2, 3, 4, 5, 6, 8})
    for (const int64_t group : {32, 64, 128})
      if (is_one(t, scales, bits, group)) out.emplace_back(bits, group);
  return out;
}

}  // namespace

bool mlx(Reader& r, const Stored& t) {
  const auto f = parts_of(r, t);
  if (!f) return false;
  if (micro_scaled(r, t, *f)) return true;
  if (!f->biases) return false;
  const auto& c = r.config();
  if (c.method == "mlx") {
    const auto it = c.layers.find(f->module);
    const auto& told = it == c.layers.end() ? c.all : it->second;
    const auto bits = told.bits.value_or(c.all.bits.value_or(4)),
               group = told.group.value_or(c.all.group.value_or(64));
    if (group < 1 || bits > 8 || !is_one(t, *f->scales, bits, group))
      r.contradict("quantization has bits " + std::to_string(bits) + " and group_size " +
                       std::to_string(group),
                   t,
                   "has " + std::to_string(t.dims.back()) + " words and " +
                       std::to_string(f->scales->dims.back()) + " scales a row");
    add(r, t, *f, bits, group);
    return true;
  }
  const auto possible = readings(t, *f->scales);
  if (possible.size() != 1) return false;  // settle_mlx may determine it
  add(r, t, *f, possible[0].first, possible[0].second);
  return true;
}

/// Weights with rows of the width of the norms' vectors.
bool is_of_hidden_size(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames{
      "embed_tokens.weight", "lm_head.weight",   "q_proj.weight",  "k_proj.weight",
      "v_proj.weight",       "gate_proj.weight", "up_proj.weight", "wte.weight"};
  return std::any_of(kNames.begin(), kNames.end(), [&](auto end) { return name.ends_with(end); });
}

/// All weights have the same bits and groups, which rows of a norm's width determine.
void settle_mlx(Reader& r, const std::vector<Stored>& stored) {
  std::vector<std::pair<const Stored*, Found>> open;
  std::set<int64_t> widths;
  for (const auto& t : stored) {
    if (t.dims.size() == 1 && t.name.find("norm") != t.name.npos && is_float(t.dtype))
      widths.insert(t.dims[0]);
    if (r.is_taken(t)) continue;
    if (auto f = parts_of(r, t); f && f->biases) open.emplace_back(&t, std::move(*f));
  }
  if (open.empty()) return;
  std::optional<std::pair<int64_t, int64_t>> settled;
  bool one = true;
  for (const auto& [t, f] : open) {
    if (!is_of_hidden_size(t->name)) continue;
    for (const auto& reading : readings(*t, *f.scales)) {
      if (!widths.contains(f.scales->dims.back() * reading.second)) continue;
      one = one && (!settled || *settled == reading);
      settled = reading;
    }
  }
  size_t left = 0;
  for (const auto& [t, f] : open) {
    if (settled && one && is_one(*t, *f.scales, settled->first, settled->second))
      add(r, *t, f, settled->first, settled->second);
    else
      ++left;
  }
  if (left > 0)
    r.note(std::to_string(left) + " weights, such as " + loading::in_quotes(open[0].first->name) +
           ", are packed as MLX does, and their shapes fit several bits and groups; config.json "
           "beside the file "
           "would tell which");
}

}  // namespace packed
