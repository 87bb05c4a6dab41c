// A small built-in model, on which `tmeter plugin check` tries callbacks.
//
//   x: f32[4, 4] → fc (Linear, weight f32[4, 4]) → aten::linear → aten::relu
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "core/ir/graph.hpp"

namespace tmeter::app {

std::unique_ptr<core::Graph> sample_graph();

/// A file in memory, and its path in this process, which is valid as long as the object lives.
class SampleFile {
 public:
  explicit SampleFile(std::string_view content);
  ~SampleFile();
  SampleFile(const SampleFile&) = delete;
  SampleFile& operator=(const SampleFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

/// The elements of fc.weight: 0, 1, … 15.
std::string sample_weights();

}  // namespace tmeter::app
