// Opens a plugin's shared library and finds its entry: the only user of Boost.DLL.
#pragma once
#include <tmeter/abi/entry.h>

#include <memory>
#include <string>

#include "core/config/pinned_library.hpp"
#include "core/plugin_host/text_store.hpp"

namespace tmeter::core {

/// The self-description of an open library, copied, and the address of its entry.
struct PluginLibrary {
  const tmeter_plugin_entry_v1* address;
  tmeter_plugin_entry_v1 entry;
  tmeter_plugin_info info;
  std::shared_ptr<TextStore> texts;  // texts of `info`
};

/// A library to be opened.
struct LibraryToOpen {
  std::string path;                     ///< for messages
  const PinnedLibrary* file = nullptr;  ///< null: a library of tmeter's own folder
  /// A manifest made from this file confirms that it is a plugin, so its table of symbols need
  /// not be read before its constructors run.
  bool has_manifest = false;
};

/// Opens the library and returns its checked entry, before `init`. The library is never closed
/// again. Throws Error(kPlugin): the file is missing, cannot be read, is not a library, lacks
/// the entry symbol, cannot be opened (with the loader's reason), needs a newer ABI than ours, or
/// its entry is malformed. No plugin is opened outside the sandbox: a call before it is entered is
/// a defect of tmeter.
PluginLibrary open_library(const LibraryToOpen& request);

/// Throws Error(kPlugin) when the plugin needs a newer minor of the ABI than ours.
void require_minor(const std::string& path, uint32_t minor);

/// Throws Error(kPlugin), with the remedy, for a library whose sanitizer this process lacks:
/// opening it would end the process. Ignores a file that cannot be read; opening it reports the
/// error.
void require_sanitizer(const std::string& library);

}  // namespace tmeter::core
