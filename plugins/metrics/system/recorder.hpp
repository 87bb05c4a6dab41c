// The state of the machine during runs, read at intervals: curves over time, and their sums, means
// and peaks. Reads files and NVML; needs no host (plugin.cpp does); one thread at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "energy_counters.hpp"
#include "nvml.hpp"
#include "readings.hpp"

#pragma GCC visibility push(hidden)
namespace system_load {

// "100ms", "0.5s", "2min": a time as users write it.

/// Nanoseconds; empty if the text is not a time from 10 ms to one hour.
std::optional<uint64_t> interval_of(std::string_view text);

struct Point {
  double seconds, value;  // since the first reading
};

/// One curve. When it is full, every other point is dropped, and so is every other later point.
class Curve {
 public:
  Curve(std::string id, std::string title, std::string unit)
      : id_(std::move(id)), title_(std::move(title)), unit_(std::move(unit)) {}
  void add(double seconds, double value);

  const std::string& id() const { return id_; }
  const std::string& title() const { return title_; }
  const std::string& unit() const { return unit_; }
  const std::vector<Point>& points() const { return points_; }
  // Statistics of all added values.
  double mean() const { return count_ ? sum_ / static_cast<double>(count_) : 0; }
  double peak() const { return peak_; }
  bool empty() const { return count_ == 0; }

 private:
  std::string id_, title_, unit_;
  std::vector<Point> points_;
  size_t count_ = 0, every_ = 1;
  double sum_ = 0, peak_ = 0;
};

class Recorder {
 public:
  /// `gpu`: the device of NVML to watch, if any.
  Recorder(sensors::Places places, std::optional<size_t> gpu);

  /// Records at `seconds` of any monotonic clock.
  void read(double seconds);

  /// The curves with a point, in a fixed order: cpu_utilisation, cpu0_utilisation, …
  std::vector<const Curve*> curves() const;
  /// Null: nothing could be read.
  const Curve* curve(const std::string& id) const;

  /// The increase from the first reading to the last; empty if it cannot be read.
  struct Increases {
    std::optional<double> minor_faults, major_faults, disk_read, disk_written, received, sent;
  };
  Increases increases() const;
  /// Highest resident memory of this process, bytes.
  std::optional<double> peak_resident() const;
  size_t readings() const { return readings_; }
  const std::string& gpu_problem() const { return gpu_problem_; }

 private:
  struct State {
    double seconds = 0;
    std::vector<sensors::CpuTimes> cpus;
    sensors::ProcessState process;
    sensors::Traffic disks, networks;
  };
  State look(double seconds) const;
  Curve& at(const std::string& id, const std::string& title, const std::string& unit);
  void add(const std::string& id, const std::string& title, const std::string& unit, double seconds,
           std::optional<double> value);
  void add_rate(const std::string& id, const std::string& title, const std::string& unit,
                const State& now, std::optional<double> before, std::optional<double> after);
  void add_cpus(const State& now);
  void add_process(const State& now);
  void add_gpu(double seconds);

  sensors::Places places_;
  std::unique_ptr<sensors::Nvml> nvml_;
  std::optional<size_t> gpu_;
  std::string gpu_problem_;
  std::vector<std::unique_ptr<Curve>> curves_;
  std::optional<State> first_, last_;
  size_t readings_ = 0;
};

}  // namespace system_load
#pragma GCC visibility pop
