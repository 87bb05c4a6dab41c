// Advice for a model file that does not exist.
#pragma once
#include <string>

namespace tmeter::core {

/// " (did you mean 'resnet50.pt2'?)", or how a URL or the name of a model becomes a file; empty when nothing is
/// known. Looks into the folder of the path.
std::string missing_file_advice(const std::string& path);

}  // namespace tmeter::core
