// The paths that must be readable so that a plugin can be opened in the sandbox.
#pragma once
#include <string>
#include <vector>

#include "core/config/pinned_library.hpp"

namespace tmeter::core {

/// Paths that the dynamic linker, LibTorch and OpenMP read, including /proc and /sys entries about
/// this process and machine.
std::vector<std::string> paths_of_libraries();

/// The folder of the path and, for a link, of its target; only the file if that folder is the
/// root. The kernel follows links along the way.
void add_folder_of(const std::string& file, std::vector<std::string>& out);

/// The folder of a model file, or the model's own folder; in a Hugging Face cache also the blobs
/// that its links lead to.
void add_model(const std::string& model, std::vector<std::string>& out);

/// The folders of a plugin and of the libraries it is linked to.
void add_folders_of(const PinnedLibrary& library, std::vector<std::string>& out);

}  // namespace tmeter::core
