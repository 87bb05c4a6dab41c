// `tmeter plugin list|info|manifest`.
#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>

#include "apps/tmeter/commands.hpp"
#include "core/base/error.hpp"
#include "core/base/output_file.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/describe.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/library.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::app {
namespace {
using namespace core;

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const auto& i : items) out += (out.empty() ? "" : ", ") + i;
  return out;
}

std::string offers(const Manifest& m) {
  std::vector<std::string> parts;
  if (!m.metrics.empty()) parts.push_back("metrics " + joined(m.metrics));
  for (const auto& l : m.loaders) parts.push_back("reads " + l.title);
  if (!m.propagators.empty()) parts.emplace_back("sizes for other inputs");
  for (const auto& w : m.writers) parts.push_back("report " + w.name);
  if (!m.handles.empty()) parts.push_back("handles " + joined(m.handles));
  std::string out;
  for (const auto& p : parts) out += (out.empty() ? "" : "; ") + p;
  return out;
}

int list_plugins(const Settings& settings) {
  const Registry registry(settings);
  size_t width = 0;
  for (const auto& p : registry.plugins()) width = std::max(width, p->manifest.name.size());
  for (const auto& p : registry.plugins()) {
    std::cout << std::left << std::setw(static_cast<int>(width) + 2) << p->manifest.name
              << p->manifest.version << "  " << offers(p->manifest)
              << (p->library.empty() ? "  [not available]" : "") << "\n";
    if (!p->shadowed.empty()) std::cout << "  (hides " << p->shadowed << ")\n";
  }
  for (const auto& problem : registry.problems()) std::cerr << "tmeter: note: " << problem << "\n";
  return 0;
}

void print_options(const Plugin& p) {
  const auto* t = p.capability<tmeter_options>(TMETER_CAP_OPTIONS);
  for (uint32_t i = 0; t && i < t->count; ++i) {
    const auto& o = *t->get(i);
    std::cout << "  --set " << p.manifest.name << "." << str(o.key) << "=" << str(o.default_value)
              << "\n      " << str(o.text) << (o.choices.len ? " (" + str(o.choices) + ")" : "")
              << "\n";
  }
}

void print_metrics(const Plugin& p) {
  const auto* t = p.capability<tmeter_metrics>(TMETER_CAP_METRICS);
  for (uint32_t i = 0; t && i < t->count; ++i) {
    const auto& m = *t->get(i);
    std::cout << "  " << view(m.id) << "  [" << view(m.unit) << "] " << view(m.convention) << "\n";
  }
}

int show_plugin(const Settings& settings, const std::string& name) {
  Registry registry(settings);
  auto& p = registry.get(name);
  std::cout << p.manifest.name << " " << p.manifest.version << "  (" << p.manifest.id << ")\n"
            << p.manifest.description << "\n"
            << (p.library.empty() ? "not available: " + p.manifest.unavailable : p.library) << "\n";
  if (!p.manifest.needs.empty()) std::cout << "needs: " << joined(p.manifest.needs) << "\n";
  for (const auto& l : p.manifest.loaders) std::cout << "reads: " << l.title << "\n";
  if (!p.manifest.propagators.empty()) std::cout << "works out: sizes for other inputs\n";
  for (const auto& w : p.manifest.writers) std::cout << "writes: --report " << w.name << "\n";
  if (!p.manifest.handles.empty()) std::cout << "handles: " << joined(p.manifest.handles) << "\n";
  if (p.library.empty()) return 0;
  registry.open(p);
  if (!p.manifest.metrics.empty()) std::cout << "metrics:\n";
  print_metrics(p);
  if (!p.manifest.options.empty()) std::cout << "options:\n";
  print_options(p);
  return 0;
}

/// Writes the sidecar manifest of a library.
int make_manifest(const std::string& library, const std::string& output) {
  auto manifest = describe(*open_library(library));
  manifest.library_size = std::filesystem::file_size(library);
  const auto text = write_manifest(manifest);
  if (output.empty()) return std::cout << text, 0;
  OutputFile file(output);
  file.write(text);
  file.commit();
  return 0;
}

[[noreturn]] void refuse() {
  throw Error(ErrorKind::kUsage,
              "`tmeter plugin` knows: list, info NAME, manifest FILE [--output FILE]; with "
              "--plugin-path DIR, --plugin FILE");
}

}  // namespace

int plugin_command(const Arguments& arguments) {
  add_plugin_host_interfaces();
  Settings settings;
  std::string output;
  Arguments words;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& a = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (a == "--output" && has_value) {
      output = arguments[++i];
    } else if (a == "--plugin-path" && has_value) {
      settings.plugin_paths.push_back(arguments[++i]);
    } else if (a == "--plugin" && has_value) {
      settings.plugin_files.push_back(arguments[++i]);
    } else if (a.starts_with("-")) {
      throw Error(ErrorKind::kUsage,
                  "unknown option '" + a + "' of `tmeter plugin`" +
                      did_you_mean(a, {"--output", "--plugin-path", "--plugin"}));
    } else {
      words.push_back(a);
    }
  }
  const std::string what = words.empty() ? "list" : words[0];
  if (what == "list" && words.size() <= 1) return list_plugins(settings);
  if (what == "info" && words.size() == 2) return show_plugin(settings, words[1]);
  if (what == "manifest" && words.size() == 2) return make_manifest(words[1], output);
  refuse();
}

}  // namespace tmeter::app
