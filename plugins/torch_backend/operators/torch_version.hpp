// The version of LibTorch at build time, and whether the process has the same one.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <utility>

namespace tmeter::torch_backend {

/// Throws TMETER_CANNOT_RUN when the process has a LibTorch of another minor version: its objects
/// have other layouts. Versions before 2.8 do not report theirs; most of them lack symbols, so a
/// plugin is not opened with them at all.
void require_built_torch();

/// Warns in the report when tmeter's tests were not run with this version of LibTorch.
void note_untried_version(const Call& call);

/// Versions of LibTorch that tmeter's tests were run with (docs/torch-versions.md). Written by hand
/// after `./dev torch`; a patch release counts as its minor version.
constexpr std::array<std::pair<int, int>, 4> kTriedVersions{{{2, 6}, {2, 8}, {2, 12}, {2, 15}}};

/// A warning for reports; empty for a version that was tried.
inline std::string untried_version(int major, int minor) {
  if (std::find(kTriedVersions.begin(), kTriedVersions.end(), std::pair(major, minor)) !=
      kTriedVersions.end())
    return {};
  std::string tried;
  for (const auto& [a, b] : kTriedVersions)
    tried += (tried.empty() ? "" : ", ") + std::to_string(a) + "." + std::to_string(b);
  return "tmeter is built with LibTorch " + std::to_string(major) + "." + std::to_string(minor) +
         ", an untested version (tested: " + tried +
         "; docs/torch-versions.md); ./dev torch runs the tests";
}

}  // namespace tmeter::torch_backend
