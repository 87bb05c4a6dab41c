// A hardware profile: named numbers with units and sources (docs/hardware-profiles.md).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tmeter::core {

struct HardwareNumber {
  double value = 0;
  std::string unit, source;
};

struct HardwareProfile {
  std::string name, title;
  std::map<std::string, HardwareNumber, std::less<>> numbers;  // by dotted key
};

inline constexpr const char* kDefaultHardware = "horowitz-45nm";

/// `name_or_file`: a file (contains '/' or ends in .toml) or NAME.toml in one of the folders.
/// Throws Error(kUsage) naming the known profiles, or the faulty place in the file.
HardwareProfile load_hardware(const std::string& name_or_file,
                              const std::vector<std::string>& folders);

/// Parses `text`; messages name `path`.
HardwareProfile parse_hardware(const std::string& text, const std::string& path);

/// Names of the profiles in these folders, sorted.
std::vector<std::string> hardware_names(const std::vector<std::string>& folders);

/// The profile of this run, read on first use.
class HardwareSource {
 public:
  HardwareSource(std::string name_or_file, std::vector<std::string> folders)
      : name_(std::move(name_or_file)), folders_(std::move(folders)) {}
  explicit HardwareSource(HardwareProfile profile) : profile_(std::move(profile)) {}
  const HardwareProfile& get() const {
    used_ = true;
    if (!profile_) profile_ = load_hardware(name_, folders_);
    return *profile_;
  }
  bool was_used() const { return used_; }

 private:
  std::string name_;
  std::vector<std::string> folders_;
  mutable std::optional<HardwareProfile> profile_;
  mutable bool used_ = false;
};

}  // namespace tmeter::core
