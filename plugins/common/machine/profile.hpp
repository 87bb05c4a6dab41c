// The work of an operator call, the values of a hardware profile by class of work and element type,
// and the roofline. Formulas only, no host; used by energy, roofline and their unit tests.
//
//   arithmetic [s] = (macs / peak.mac + ops / peak.op) / efficiency(class)
//   memory     [s] = (bytes read + bytes written) / peak.dram
//
// `ops` are the arithmetic operations other than MACs. An operator takes the longer of the two:
// the roofline of Williams, Waterman and Patterson, CACM 52(4), 2009. Keys:
// docs/hardware-profiles.md.
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

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace machine {

using tmeter::DType;
using tmeter::DTypeClass;
using tmeter::OpClass;

/// A number of the profile by dotted key; empty if the profile lacks it.
using Lookup = std::function<std::optional<double>(const std::string& key)>;

/// The layout of a matrix product or a convolution (layout.hpp); 0: unknown, or another operator.
struct Layout {
  double outputs = 0;     ///< elements of the result
  double columns = 0;     ///< the smaller number of rows and columns of a product; output channels
  double channels = 0;    ///< input channels of a convolution
  double unread = 0;      ///< bytes of the input that a kernel smaller than its stride leaves out
  bool winograd = false;  ///< a 3 × 3 convolution of stride 1
  bool operator==(const Layout&) const = default;
};

/// The work of one operator call.
struct Work {
  double macs = 0, ops = 0, bytes = 0;
  OpClass kind = OpClass::kOther;
  DType type;          ///< element type of the arithmetic
  double row = 0;      ///< bytes of a row that is read again: softmax, layer norm
  Layout layout = {};  ///< layout of a product or a convolution
  bool operator==(const Work&) const = default;
};

// --- the value for each element type ---

inline constexpr std::array kFallbackFloats{TMETER_DTYPE_FLOAT8_E4M3FN, TMETER_DTYPE_FLOAT8_E5M2,
                                            TMETER_DTYPE_FLOAT16,       TMETER_DTYPE_BFLOAT16,
                                            TMETER_DTYPE_FLOAT32,       TMETER_DTYPE_FLOAT64};
inline constexpr std::array kFallbackInts{TMETER_DTYPE_INT8, TMETER_DTYPE_INT16, TMETER_DTYPE_INT32,
                                          TMETER_DTYPE_INT64};

constexpr bool is_integral(DType type) {
  return type.kind() == DTypeClass::kInt || type.kind() == DTypeClass::kBool ||
         type.kind() == DTypeClass::kQuantized;
}

/// Types whose values may be used for `type`, best first: itself; for integers the signed
/// integers at least as wide; then the floats at least as wide (more expensive, so the
/// estimate errs upwards). Complex and raw-bit types have none.
inline std::vector<DType> fallback_types(DType type) {
  std::vector<DType> out{type};
  const auto add_wider = [&](const auto& ids) {
    for (const int32_t id : ids) {
      const DType other(id);
      if (other.bytes() >= type.bytes() && !(other == type)) out.push_back(other);
    }
  };
  if (is_integral(type)) add_wider(kFallbackInts);
  if (is_integral(type) || type.kind() == DTypeClass::kFloat) add_wider(kFallbackFloats);
  return out;
}

/// uint8, quint8 and bool are computed with as int8: no approximation worth a warning.
constexpr bool same_arithmetic(DType a, DType b) {
  return a == b || (is_integral(a) && is_integral(b) && a.bytes() == b.bytes());
}

// --- the profile ---

/// The families of values that depend on operator class and element type.
enum class Family { kEnergyMac, kEnergyOp, kPeakMac, kPeakOp };

constexpr std::string_view key_of(Family family) {
  constexpr std::array<std::string_view, 4> kKeys{"energy.mac", "energy.op", "peak.mac", "peak.op"};
  return kKeys[static_cast<size_t>(family)];
}

struct ProfileValue {
  double value = 0;
  DType type;  ///< the type it was given for
};

/// Reads values and caches them. `FAMILY.CLASS.DTYPE` takes precedence over `FAMILY.DTYPE`.
class Profile {
 public:
  void forget() { values_.clear(); }

  std::optional<ProfileValue> value_for(const Lookup& lookup, Family family, OpClass kind,
                                        DType type) {
    const auto [at, is_new] = values_.try_emplace({family, kind, type.id()});
    if (is_new) at->second = find(lookup, family, kind, type);
    return at->second;
  }

  /// Whether the profile has a value of the family, for any class or type.
  static bool has(const Lookup& lookup, Family family) {
    return std::any_of(tmeter::kDTypes.begin(), tmeter::kDTypes.end(), [&](const auto& type) {
      return lookup(join(key_of(family), type.name)).has_value();
    });
  }

 private:
  static std::string join(std::string_view a, std::string_view b) {
    return std::string(a).append(".").append(b);
  }
  static std::optional<ProfileValue> find(const Lookup& lookup, Family family, OpClass kind,
                                          DType type) {
    const auto in_class = join(key_of(family), tmeter::name_of(kind));
    for (const auto candidate : fallback_types(type)) {
      if (const auto v = lookup(join(in_class, candidate.name())))
        return ProfileValue{*v, candidate};
      if (const auto v = lookup(join(key_of(family), candidate.name()))) {
        return ProfileValue{*v, candidate};
      }
    }
    return std::nullopt;
  }

  std::map<std::tuple<Family, OpClass, int32_t>, std::optional<ProfileValue>> values_;
};

// --- the roofline ---

/// Rates in 1/s; a missing rate does not limit the time. `efficiency`: the share of peak arithmetic
/// that operators of the class reach.
struct Rates {
  std::optional<double> mac, op, byte;
  double efficiency = 1;
};

inline double seconds_at(double amount, std::optional<double> rate) {
  return amount > 0 && rate && *rate > 0 ? amount / *rate : 0.0;
}

inline double arithmetic_seconds(const Work& work, const Rates& rates) {
  return (seconds_at(work.macs, rates.mac) + seconds_at(work.ops, rates.op)) /
         (rates.efficiency > 0 ? rates.efficiency : 1);
}

/// Roofline seconds: a lower bound, without launch overheads.
inline double roofline_time(const Work& work, const Rates& rates) {
  return std::max(arithmetic_seconds(work, rates), seconds_at(work.bytes, rates.byte));
}

}  // namespace machine
#pragma GCC visibility pop
