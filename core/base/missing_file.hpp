// Advice for a model file that does not exist.
#pragma once
#include <string>

namespace tmeter::core {

/// " (did you mean 'resnet50.pt2'?)", or the way from a URL or the name of a model to a file; empty
/// without advice. Reads the folder of the path.
std::string missing_file_advice(const std::string& path);

}  // namespace tmeter::core
