// `tmeter plugin list|info|manifest`.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <sstream>

#include "apps/tmeter/commands.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/describe.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/library.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/supervisor.hpp"

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

void list_plugins(const Settings& settings, Worker& worker, std::ostream& out) {
  const Registry registry(settings, worker.excluded());
  size_t width = 0;
  for (const auto& p : registry.plugins()) width = std::max(width, p->manifest.name.size());
  for (const auto& p : registry.plugins()) {
    out << std::left << std::setw(static_cast<int>(width) + 2) << p->manifest.name
        << p->manifest.version << "  " << offers(p->manifest)
        << (p->library.empty()   ? "  [not available]"
            : p->failure.empty() ? ""
                                 : "  [failed]")
        << "\n";
  }
  for (const auto& problem : registry.problems()) worker.message("note: " + problem);
}

void print_options(const Plugin& p, std::ostream& out) {
  const auto* t = p.capability<tmeter_options>(TMETER_CAP_OPTIONS);
  for (uint32_t i = 0; t && i < t->count; ++i) {
    const auto& o = *t->get(i);
    out << "  --set " << p.manifest.name << "." << str(o.key) << "=" << str(o.default_value)
        << "\n      " << str(o.text) << (o.choices.len ? " (" + str(o.choices) + ")" : "") << "\n";
  }
}

void print_metrics(const Plugin& p, std::ostream& out) {
  const auto* t = p.capability<tmeter_metrics>(TMETER_CAP_METRICS);
  for (uint32_t i = 0; t && i < t->count; ++i) {
    const auto& m = *t->get(i);
    out << "  " << view(m.id) << "  [" << view(m.unit) << "] " << view(m.convention) << "\n";
  }
}

void show_plugin(const Settings& settings, const std::string& name, Worker& worker,
                 std::ostream& out) {
  Registry registry(settings, worker.excluded());
  auto& p = registry.get(name);
  out << p.manifest.name << " " << p.manifest.version << "  (" << p.manifest.id << ")\n"
      << p.manifest.description << "\n"
      << (p.library.empty() ? "not available: " + p.manifest.unavailable : p.library) << "\n";
  if (!p.manifest.needs.empty()) out << "needs: " << joined(p.manifest.needs) << "\n";
  for (const auto& l : p.manifest.loaders) out << "reads: " << l.title << "\n";
  if (!p.manifest.propagators.empty()) out << "works out: sizes for other inputs\n";
  for (const auto& w : p.manifest.writers) out << "writes: --report " << w.name << "\n";
  if (!p.manifest.handles.empty()) out << "handles: " << joined(p.manifest.handles) << "\n";
  if (!p.manifest.rights.empty()) out << "may use, beyond computing: " << p.manifest.rights << "\n";
  if (!p.failure.empty()) out << "failed: " << p.failure << "\n";
  if (p.library.empty() || !p.failure.empty()) return;
  registry.open(p);
  if (!p.manifest.metrics.empty()) out << "metrics:\n";
  print_metrics(p, out);
  if (!p.manifest.options.empty()) out << "options:\n";
  print_options(p, out);
}

/// The sidecar manifest of a library, with where its own libraries lie.
void make_manifest(const std::string& library, std::ostream& out) {
  const auto before = loaded_library_folders();
  auto manifest = describe(*open_library(library));
  manifest.made_from = identity_of(library);
  const auto own = std::filesystem::absolute(library).parent_path().string();
  for (const auto& folder : loaded_library_folders()) {
    if (folder != own && std::find(before.begin(), before.end(), folder) == before.end())
      manifest.library_folders.push_back(folder);
  }
  out << write_manifest(manifest);
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
  const bool known = (what == "list" && words.size() <= 1) ||
                     ((what == "info" || what == "manifest") && words.size() == 2);
  if (!known) refuse();
  return supervise_command(output, [&](Worker& worker) -> Ending {
    std::ostringstream out;
    if (what == "list") list_plugins(settings, worker, out);
    if (what == "info") show_plugin(settings, words[1], worker, out);
    if (what == "manifest") make_manifest(words[1], out);
    worker.report(0, out.str());
    return {};
  });
}

}  // namespace tmeter::app
