// Published energies per operation and byte, compiled in: they span the band of an estimate.
#include "plugins/common/energy/tables.hpp"

#include <algorithm>

#include "plugins/common/energy/model.hpp"

namespace energy {
namespace {

struct Entry {
  std::string_view key;
  double value;
};

// The values of hardware/NAME.toml, which states each source; tests/hardware compares them.
constexpr Entry kHorowitz[] = {
    {"energy.mac.float32", 4.6e-12},
    {"energy.mac.float16", 1.5e-12},
    {"energy.mac.int8", 2.3e-13},
    {"energy.mac.int32", 3.2e-12},
    {"energy.op.float32", 2.3e-12},
    {"energy.op.float16", 7.5e-13},
    {"energy.op.int8", 1.15e-13},
    {"energy.op.int32", 1.6e-12},
    {"energy.op.int64", 2e-13},
    {"energy.op.pooling.float32", 9e-13},
    {"energy.op.pooling.float16", 4e-13},
    {"energy.op.reduction.float32", 9e-13},
    {"energy.op.reduction.float16", 4e-13},
    {"energy.dram", 1.625e-10},
};
constexpr Entry kJouppi[] = {
    {"energy.mac.float32", 1.69e-12},
    {"energy.mac.float16", 5e-13},
    {"energy.mac.bfloat16", 3.2e-13},
    {"energy.mac.int8", 7.7e-14},
    {"energy.mac.int32", 1.51e-12},
    {"energy.op.float32", 8.45e-13},
    {"energy.op.float16", 2.5e-13},
    {"energy.op.bfloat16", 1.6e-13},
    {"energy.op.int8", 3.85e-14},
    {"energy.op.int32", 7.55e-13},
    {"energy.op.int64", 6e-14},
    {"energy.op.pooling.float32", 3.8e-13},
    {"energy.op.pooling.float16", 1.6e-13},
    {"energy.op.pooling.bfloat16", 1.1e-13},
    {"energy.op.reduction.float32", 3.8e-13},
    {"energy.op.reduction.float16", 1.6e-13},
    {"energy.op.reduction.bfloat16", 1.1e-13},
    {"energy.dram", 3.125e-11},
};
constexpr Entry kA100[] = {
    {"energy.mac.float16", 1.4e-12},
    {"energy.mac.float32", 2.14e-11},
    {"energy.mac.convolution.float32", 2.48e-12},
    {"energy.mac.float64", 2.67e-11},
    {"energy.op.float32", 1.07e-11},
    {"energy.op.float16", 1.07e-11},
    {"energy.op.bfloat16", 1.07e-11},
    {"energy.op.float64", 2.85e-11},
    {"energy.dram", 1.5528e-10},
    {"power.static", 54.0},
    {"peak.mac.float16", 156000000000000.0},
    {"peak.mac.bfloat16", 156000000000000.0},
    {"peak.mac.float32", 9750000000000.0},
    {"peak.mac.convolution.float32", 78000000000000.0},
    {"peak.mac.float64", 9750000000000.0},
    {"peak.mac.int8", 312000000000000.0},
    {"peak.op.float32", 9750000000000.0},
    {"peak.op.float16", 9750000000000.0},
    {"peak.op.bfloat16", 9750000000000.0},
    {"peak.op.float64", 4850000000000.0},
    {"peak.dram", 1555000000000.0},
    {"efficiency.matmul", 0.84},
    {"efficiency.attention", 0.73},
};
constexpr Entry kXeon8380[] = {
    {"energy.mac.float32", 8.254e-11},
    {"energy.mac.float64", 1.651e-10},
    {"energy.mac.int8", 2.063e-11},
    {"energy.op.float32", 8.254e-11},
    {"energy.op.float64", 1.651e-10},
    {"energy.op.int32", 8.254e-11},
    {"energy.op.int64", 1.651e-10},
    {"energy.dram", 1.625e-10},
    {"power.static", 27.0},
    {"peak.mac.float32", 2944000000000.0},
    {"peak.mac.float64", 1472000000000.0},
    {"peak.mac.int8", 11776000000000.0},
    {"peak.op.float32", 2944000000000.0},
    {"peak.op.float64", 1472000000000.0},
    {"peak.op.int32", 2944000000000.0},
    {"peak.op.int64", 1472000000000.0},
    {"peak.dram", 204800000000.0},
};

struct Table {
  std::string_view name;
  std::span<const Entry> entries;
};
constexpr std::array<Table, 4> kTables{{{"horowitz-45nm", kHorowitz},
                                        {"jouppi-7nm", kJouppi},
                                        {"nvidia-a100", kA100},
                                        {"intel-xeon-8380", kXeon8380}}};

machine::Lookup lookup_in(const Table& table) {
  return [entries = table.entries](const std::string& key) -> std::optional<double> {
    const auto at = std::find_if(entries.begin(), entries.end(),
                                 [&key](const Entry& e) { return e.key == key; });
    return at == entries.end() ? std::nullopt : std::optional(at->value);
  };
}

}  // namespace

std::optional<double> PublishedTables::Reader::energy_of(std::span<const Work> parts) {
  double joules = 0, arithmetic = 0, bytes = 0;
  for (const auto& work : parts) {
    const auto value = [&](machine::Family family) -> std::optional<double> {
      const auto found = profile.value_for(lookup, family, work.kind, work.type);
      return found ? std::optional(found->value) : std::nullopt;
    };
    const auto compute =
        compute_energy(work, value(machine::Family::kEnergyMac), value(machine::Family::kEnergyOp));
    if (!compute) return std::nullopt;
    joules += *compute + memory_energy(work, per_byte);
    bytes += work.bytes;
    if (power == 0) continue;
    machine::Rates rates{value(machine::Family::kPeakMac), value(machine::Family::kPeakOp), {}, 1};
    const auto key = std::string("efficiency.").append(tmeter::name_of(work.kind));
    rates.efficiency = lookup(key).value_or(1);
    arithmetic += arithmetic_seconds(work, rates);
  }
  return joules + static_energy(std::max(arithmetic, machine::seconds_at(bytes, bandwidth)), power);
}

PublishedTables::PublishedTables() {
  for (const auto& table : kTables) {
    auto lookup = lookup_in(table);
    readers_.push_back({table.name,
                        lookup,
                        {},
                        lookup("energy.dram").value_or(0),
                        lookup("power.static").value_or(0),
                        lookup("peak.dram")});
  }
}

std::optional<Band> PublishedTables::band(std::span<const Work> parts) {
  std::optional<Band> band;
  int count = 0;
  for (auto& reader : readers_) {
    const auto joules = reader.energy_of(parts);
    if (!joules) continue;
    ++count;
    if (!band) band = Band{*joules, *joules};
    band->low = std::min(band->low, *joules);
    band->high = std::max(band->high, *joules);
  }
  return count >= 2 ? band : std::nullopt;
}

std::vector<PublishedTables::MachineEnergy> PublishedTables::machines(std::span<const Work> parts) {
  std::vector<MachineEnergy> out;
  for (auto& reader : readers_)  // bare circuits have no static power
    if (reader.power > 0) out.push_back({reader.name, reader.energy_of(parts)});
  return out;
}

std::string published_tables() {
  std::string names;
  for (const auto& table : kTables) names.append(names.empty() ? "" : ", ").append(table.name);
  return names;
}

}  // namespace energy
