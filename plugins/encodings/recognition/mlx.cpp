// MLX: rows of words with a scale and a bias per group (mlx/ops, affine_quantize), or micro-scaled
// floats.
#include <algorithm>
#include <array>
#include <set>

#include "reader.hpp"

namespace packed {
namespace {

constexpr std::string_view kWeight = ".weight";

struct ScalesAndBiases {
  const Stored* scales;
  const Stored* biases;
  std::string module;
};

std::optional<ScalesAndBiases> parts_of(const Reader& r, const Stored& t) {
  if (t.dtype != TMETER_DTYPE_UINT32 || t.dims.size() < 2 || !t.name.ends_with(kWeight))
    return std::nullopt;
  ScalesAndBiases f{nullptr, nullptr,
                    std::string(t.name.substr(0, t.name.size() - kWeight.size()))};
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

bool micro_scaled(Reader& r, const Stored& t, const ScalesAndBiases& f) {
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

void add(Reader& r, const Stored& t, const ScalesAndBiases& f, int64_t bits, int64_t group) {
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

/// Pairs of bits and group size that fit the shapes.
std::vector<std::pair<int64_t, int64_t>> readings(const Stored& t, const Stored& scales) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const int64_t bits : {2, 3, 4, 5, 6, 8})
    for (const int64_t group : {32, 64, 128})
      if (is_one(t, scales, bits, group)) out.emplace_back(bits, group);
  return out;
}

/// The weight that feeds this one: it has as many rows as this has columns. Empty if unknown.
std::string producer_of(const std::string& module) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kPairs{
      {{"down_proj", "up_proj"},
       {"o_proj", "q_proj"},
       {"w2", "w1"},
       {"fc2", "fc1"},
       {"c_proj", "c_fc"}}};
  for (const auto& [end, other] : kPairs)
    if (module.ends_with(end))
      return module.substr(0, module.size() - end.size()) + std::string(other);
  return {};
}

/// Whether norms, or the weight that feeds this one, show that the rows have this width.
bool is_width(const Reader& all, const Stored& t, const ScalesAndBiases& f,
              const std::set<int64_t>& hidden, int64_t width) {
  if (is_of_hidden_size(t.name)) return hidden.contains(width);
  const auto producer = producer_of(f.module);
  const auto* rows = producer.empty() ? nullptr : all.find_any(producer + std::string(kWeight));
  return rows && rows->dims.size() >= 2 && rows->dims[rows->dims.size() - 2] == width;
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
    const auto& stated = it == c.layers.end() ? c.all : it->second;
    const auto bits = stated.bits.value_or(c.all.bits.value_or(4)),
               group = stated.group.value_or(c.all.group.value_or(64));
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
  if (possible.size() != 1) return false;  // add_rest_of_mlx may determine it
  add(r, t, *f, possible[0].first, possible[0].second);
  return true;
}

/// Determines bits and group sizes of weights whose width follows from the model. If all of these
/// agree, the other weights get the same.
void add_rest_of_mlx(Reader& r, const std::vector<Stored>& stored) {
  std::vector<std::pair<const Stored*, ScalesAndBiases>> open;
  for (const auto& t : stored) {
    if (r.is_taken(t)) continue;
    if (auto f = parts_of(r, t); f && f->biases) open.emplace_back(&t, std::move(*f));
  }
  if (open.empty()) return;
  const auto hidden = hidden_sizes(stored);
  std::set<std::pair<int64_t, int64_t>> settled;
  std::vector<std::pair<const Stored*, ScalesAndBiases>> left;
  for (auto& [t, f] : open) {
    std::vector<std::pair<int64_t, int64_t>> fit;
    for (const auto& reading : readings(*t, *f.scales))
      if (is_width(r, *t, f, hidden, f.scales->dims.back() * reading.second))
        fit.push_back(reading);
    if (fit.size() == 1) {
      settled.insert(fit[0]);
      add(r, *t, f, fit[0].first, fit[0].second);
    } else {
      left.emplace_back(t, std::move(f));
    }
  }
  if (settled.size() == 1) {
    const auto [bits, group] = *settled.begin();
    std::vector<std::pair<const Stored*, ScalesAndBiases>> others;
    for (auto& item : left)
      if (is_one(*item.first, *item.second.scales, bits, group)) others.push_back(item);
    std::erase_if(left, [&, bits = bits, group = group](const auto& item) {
      return is_one(*item.first, *item.second.scales, bits, group);
    });
    for (const auto& [t, f] : others) add(r, *t, f, bits, group);
    if (!others.empty())
      r.note(std::to_string(others.size()) + " weights, such as " +
             loading::in_quotes(others[0].first->name) + ", are assumed to have " +
             std::to_string(bits) + " bits in groups of " + std::to_string(group) +
             ", like the others of MLX: their shapes fit several");
  }
  if (!left.empty())
    r.note(std::to_string(left.size()) + " weights, such as " +
           loading::in_quotes(left[0].first->name) +
           ", are packed by MLX, and their shapes fit several bits and groups; config.json beside "
           "the file would determine them");
}

}  // namespace packed
