// The energy model: what one operator costs on one hardware profile. Formulas only, no host; used
// by plugin.cpp and tests/unit/energy.
//
//   compute  [J] = macs * energy.mac(class, dtype) + ops * energy.op(class, dtype)
//   memory   [J] = (bytes read + bytes written) * energy.dram
//   time     [s] = max((macs / peak.mac + ops / peak.op) / efficiency(class), bytes / peak.dram)
//   static   [J] = power.static * time
//   energy       = compute + memory + static
//
// `ops` are the arithmetic operations that are no MACs. Dynamic energy per operation and byte plus
// constant power over time is the model of Choi et al., "A Roofline Model of Energy", IPDPS 2013,
// doi:10.1109/IPDPS.2013.77, and of Antepara et al., SC '25, doi:10.1145/3712285.3759815, eq. 1;
// time is the roofline of Williams et al., CACM 52(4), 2009. Keys: docs/hardware-profiles.md.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tmeter/cpp/dtype.hpp>
#include <tmeter/cpp/op_class.hpp>
#include <tuple>
#include <vector>

#pragma GCC visibility push(hidden)  // as the SDK types inside
namespace energy {

using tmeter::DType;
using tmeter::DTypeClass;
using tmeter::OpClass;

/// A number of the profile by dotted key; empty when the profile has none.
using Lookup = std::function<std::optional<double>(const std::string& key)>;

/// What one operator call does.
struct Work {
  double macs = 0, ops = 0, bytes = 0;
  OpClass kind = OpClass::kOther;
  DType type;  ///< of the arithmetic
};

// --- which figure stands for which element type ---

inline constexpr std::array kFigureFloats{TMETER_DTYPE_FLOAT8_E4M3FN, TMETER_DTYPE_FLOAT8_E5M2,
                                          TMETER_DTYPE_FLOAT16,       TMETER_DTYPE_BFLOAT16,
                                          TMETER_DTYPE_FLOAT32,       TMETER_DTYPE_FLOAT64};
inline constexpr std::array kFigureInts{TMETER_DTYPE_INT8, TMETER_DTYPE_INT16, TMETER_DTYPE_INT32,
                                        TMETER_DTYPE_INT64};

constexpr bool is_integral(DType type) {
  return type.kind() == DTypeClass::kInt || type.kind() == DTypeClass::kBool ||
         type.kind() == DTypeClass::kQuantized;
}

/// Types whose figures may be used for `type`, best first: itself; for integers the signed
/// integers at least as wide; then the floats at least as wide (dearer, so the estimate errs
/// upwards). Complex and raw-bit types have no stand-in.
inline std::vector<DType> stand_ins(DType type) {
  std::vector<DType> out{type};
  const auto add_wider = [&](const auto& ids) {
    for (const int32_t id : ids) {
      const DType other(id);
      if (other.bytes() >= type.bytes() && !(other == type)) out.push_back(other);
    }
  };
  if (is_integral(type)) add_wider(kFigureInts);
  if (is_integral(type) || type.kind() == DTypeClass::kFloat) add_wider(kFigureFloats);
  return out;
}

/// uint8, quint8 and bool are computed with as int8: no approximation worth a warning.
constexpr bool same_arithmetic(DType a, DType b) {
  return a == b || (is_integral(a) && is_integral(b) && a.bytes() == b.bytes());
}

// --- the profile ---

/// The families of figures that depend on operator class and element type.
enum class Family { kEnergyMac, kEnergyOp, kPeakMac, kPeakOp };

constexpr std::string_view key_of(Family family) {
  constexpr std::array<std::string_view, 4> kKeys{"energy.mac", "energy.op", "peak.mac", "peak.op"};
  return kKeys[static_cast<size_t>(family)];
}

struct Figure {
  double value = 0;
  DType type;  ///< the type it was given for
};

/// Reads figures and remembers them. `FAMILY.CLASS.DTYPE` goes before `FAMILY.DTYPE`.
class Profile {
 public:
  void forget() { figures_.clear(); }

  std::optional<Figure> figure(const Lookup& lookup, Family family, OpClass kind, DType type) {
    const auto [at, is_new] = figures_.try_emplace({family, kind, type.id()});
    if (is_new) at->second = find(lookup, family, kind, type);
    return at->second;
  }

  /// Whether the profile has the family at all, for any class or type.
  static bool has(const Lookup& lookup, Family family) {
    return std::any_of(tmeter::kDTypes.begin(), tmeter::kDTypes.end(), [&](const auto& type) {
      return lookup(join(key_of(family), type.name)).has_value();
    });
  }

 private:
  static std::string join(std::string_view a, std::string_view b) {
    return std::string(a).append(".").append(b);
  }
  static std::optional<Figure> find(const Lookup& lookup, Family family, OpClass kind, DType type) {
    const auto in_class = join(key_of(family), tmeter::name_of(kind));
    for (const auto candidate : stand_ins(type)) {
      if (const auto v = lookup(join(in_class, candidate.name()))) return Figure{*v, candidate};
      if (const auto v = lookup(join(key_of(family), candidate.name()))) {
        return Figure{*v, candidate};
      }
    }
    return std::nullopt;
  }

  std::map<std::tuple<Family, OpClass, int32_t>, std::optional<Figure>> figures_;
};

// --- the formulas ---

/// Joules of arithmetic. `mac` and `op` may be empty when there is nothing of the kind to do;
/// otherwise the answer is empty.
inline std::optional<double> compute_energy(const Work& work, std::optional<double> mac,
                                            std::optional<double> op) {
  if ((work.macs > 0 && !mac) || (work.ops > 0 && !op)) return std::nullopt;
  return work.macs * mac.value_or(0) + work.ops * op.value_or(0);
}

/// Joules of data movement; `per_byte` in J/B.
inline double memory_energy(const Work& work, double per_byte) { return work.bytes * per_byte; }

/// Rates in 1/s; a rate the profile does not have bounds nothing. `efficiency`: the share of peak
/// arithmetic that operators of the class reach.
struct Rates {
  std::optional<double> mac, op, byte;
  double efficiency = 1;
};

/// Roofline seconds: a lower bound, without launch overheads.
inline double roofline_time(const Work& work, const Rates& rates) {
  const auto seconds = [](double amount, std::optional<double> rate) {
    return amount > 0 && rate && *rate > 0 ? amount / *rate : 0.0;
  };
  const double arithmetic = (seconds(work.macs, rates.mac) + seconds(work.ops, rates.op)) /
                            (rates.efficiency > 0 ? rates.efficiency : 1);
  return std::max(arithmetic, seconds(work.bytes, rates.byte));
}

/// Joules drawn while the operator runs, whatever it does; `power` in W.
inline double static_energy(double seconds, double power) { return seconds * power; }

}  // namespace energy
#pragma GCC visibility pop
