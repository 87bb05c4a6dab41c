// plugins.index: the manifests of one folder in one file, so that a start reads one file instead of
// forty. Made by `tmeter plugin index FOLDER`; an entry is valid as long as its manifest
// has not changed since, so a missing, old or damaged index only costs time.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "core/config/manifest.hpp"

namespace tmeter::core {

inline constexpr std::string_view kIndexName = "plugins.index";

struct IndexedManifest {
  FileStamp made_from;  // identity of the manifest's file
  Manifest manifest;
};

/// The key is the name of the manifest's file, without its folder.
using ManifestIndex = std::map<std::string, IndexedManifest, std::less<>>;

/// Reads the manifests of a folder. Throws Error(kPlugin) for a malformed one, Error(kUsage) when
/// the folder cannot be read.
ManifestIndex index_of(const std::string& folder);

std::string write_index(const ManifestIndex& index);
/// Throws Error(kPlugin) if the index is damaged or of another version.
ManifestIndex parse_index(std::string_view text);

/// The index in a folder; empty without one. Throws Error(kPlugin) if it is damaged, not a regular
/// file, or writable by everyone.
ManifestIndex read_index(const std::string& folder);

}  // namespace tmeter::core
