// The sidecar manifest NAME.tmeter.toml: the capabilities of a plugin, so that listing plugins and
// choosing a loader open no library. Written by `tmeter plugin manifest`, read at every start.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/config/pinned_library.hpp"

namespace tmeter::core {

inline constexpr uint32_t kManifestSchema = 1;

struct LoaderMatch {
  std::string conditions;  // sdk abi/loader.h
  int32_t score = 0;
  bool operator==(const LoaderMatch&) const = default;
};

struct LoaderManifest {
  std::string name, title;
  std::vector<LoaderMatch> matches;
  bool operator==(const LoaderManifest&) const = default;
};

struct WriterManifest {
  std::string name, extension, media_type;
  bool operator==(const WriterManifest&) const = default;
};

struct Manifest {
  std::string id, name, version, description;
  std::string unavailable;  // reason for a missing library (a build without LibTorch)
  std::vector<std::string> needs;
  std::vector<std::string> metrics;
  std::vector<std::string> options;
  /// Operators and module types it handles for metrics of other plugins: it is opened when a model
  /// has one of them.
  std::vector<std::string> handles;
  std::vector<std::string> shape_rules;  // schemas of the operators with shape rules
  std::vector<LoaderManifest> loaders;
  std::vector<std::string> decoders;  // encodings it decodes: "gptq"
  std::vector<std::string> propagators;
  std::vector<WriterManifest> writers;
  std::vector<std::string> executors;  // names of its engines: "LibTorch"
  std::vector<std::string> measured;   // ids of metrics that only a run of the model gives
  std::string rights;  // its rights beyond computing: "network", "files", … (abi/entry.h)
  /// Folders of its linked libraries other than the system's, which may be read.
  /// "$ORIGIN/…" is relative to the plugin's own folder.
  std::vector<std::string> library_folders;
  // advice for the user when those libraries or their symbols are missing
  std::string when_missing;
  uint32_t schema = kManifestSchema;  // version of the manifest itself; other versions are ignored
  uint32_t abi_minor = 0;             // the lowest ABI minor version that the plugin runs with
  LibraryIdentity made_from;  // identity of the library; if it has changed, the manifest is stale
};

/// True if both manifests describe the same plugin with the same capabilities.
bool same_offer(const Manifest& a, const Manifest& b);

/// Throws Error(kPlugin) with file, line and column, also when the file is not regular (a pipe) or
/// longer than the limit.
Manifest read_manifest(const std::string& path);
std::string write_manifest(const Manifest& manifest);

}  // namespace tmeter::core
