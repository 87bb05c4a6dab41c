// The energy of an operator by every published table, whatever the profile of the run: their spread
// shows how uncertain an estimate is. Not a confidence interval: the tables describe different
// machines, and another machine is likely, but not certain, to lie between them.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/common/machine/figures.hpp"

#pragma GCC visibility push(hidden)  // as the SDK types inside
namespace energy {

using machine::Work;

struct Band {
  double low = 0, high = 0;  ///< J
};

class PublishedTables {
 public:
  PublishedTables();
  /// The least and the most of the tables that have figures for all of it; empty with fewer than
  /// two. A wider type's figure stands in for one that is missing, silently (machine/figures.hpp).
  std::optional<Band> band(std::span<const Work> parts);
  /// The energy by each table of a real machine, by name; nothing where it has no figure.
  struct OfMachine {
    std::string_view name;
    std::optional<double> joules;
  };
  std::vector<OfMachine> machines(std::span<const Work> parts);

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
