// The energy of an operator by every published table, independent of the run's profile. The spread
// shows how uncertain an estimate is. It is not a confidence interval: the tables describe
// different machines, and another machine is probably between them.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/common/machine/profile.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace energy {

using machine::Work;

struct Band {
  double low = 0, high = 0;  ///< J
};

class PublishedTables {
 public:
  PublishedTables();
  /// The lowest and highest value of the tables that cover the operator; empty for fewer than two
  /// tables. The value of a wider type replaces a missing one without a note (machine/profile.hpp).
  std::optional<Band> band(std::span<const Work> parts);
  /// The energy by each table of a real machine, by name; nullopt where the table has no value.
  struct MachineEnergy {
    std::string_view name;
    std::optional<double> joules;
  };
  std::vector<MachineEnergy> machines(std::span<const Work> parts);

 private:
  struct Reader {
    std::string_view name;
    machine::Lookup lookup;
    machine::Profile profile;
    double per_byte, power;
    std::optional<double> bandwidth;
    std::optional<double> energy_of(std::span<const Work> parts);
  };
  std::vector<Reader> readers_;
};

/// Their names: "horowitz-45nm, jouppi-7nm, …"
std::string published_tables();

}  // namespace energy
#pragma GCC visibility pop
