// `tmeter plugin list|info|manifest|index|check|new`.
#include <algorithm>
#include <functional>
#include <iomanip>
#include <sstream>

#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/operator_call.hpp"
#include "apps/tmeter/plugin_arguments.hpp"
#include "apps/tmeter/plugin_commands.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/config/linked_libraries.hpp"
#include "core/plugin_host/describe.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/library.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/supervisor.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;

std::string offers(const Manifest& m) {
  std::vector<std::string> parts;
  if (!m.metrics.empty()) parts.push_back("metrics " + joined(m.metrics));
  for (const auto& l : m.loaders) parts.push_back("reads " + l.title);
  if (!m.decoders.empty()) parts.push_back("decodes " + joined(m.decoders));
  if (!m.propagators.empty()) parts.emplace_back("sizes for other inputs");
  if (!m.executors.empty()) parts.emplace_back("runs models");
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

/// The sidecar manifest of a library, with the folders of the libraries it needs. The library is
/// opened in another process, so the manifest only holds the plugin's own statements.
void make_manifest(const std::string& library, std::ostream& out) {
  require_sanitizer(library);
  const PinnedLibrary file(library);
  const auto by_descriptor = file.path_by_descriptor();
  auto manifest = describe_in_subprocess(library, &file, OpenedFor::kRequested);
  manifest.made_from = identity_of(by_descriptor);
  for (auto& folder : linked_folders(file.descriptor(), file.folder())) {
    if (folder != file.folder()) manifest.library_folders.push_back(std::move(folder));
  }
  out << write_manifest(manifest);
}

constexpr double kSecondsToCheck = 30;

}  // namespace

int plugin_command(const Arguments& arguments) {
  add_plugin_host_interfaces();
  const auto given = plugin_arguments(arguments);
  const auto& what = given.what;
  const auto& operand = given.operand;
  if (what.empty()) return Terminal::output(given.help), 0;
  if (what == "new") return new_plugin(operand, given.kind, given.output);
  if (what == "check") {
    Job job{operand, {given.output}, {}, false, 0, true};
    job.limits.memory = default_max_memory();
    job.limits.timeout = kSecondsToCheck;
    const CheckRequest request{operand, given.models, given.calls, given.settings};
    for (const auto& call : given.calls) parse_call(call);  // refuse early
    return supervise(job, [&](Worker& worker) {
      auto outcome = check_plugin(request, worker);
      worker.report_whole(0);
      return outcome;
    });
  }
  const auto output = what == "index" ? operand + "/" + std::string(kIndexName) : given.output;
  return supervise_command(output, [&](Worker& worker) -> Outcome {
    std::ostringstream out;
    if (what == "list") list_plugins(given.settings, worker, out);
    if (what == "info") out << plugin_facts(given.settings, operand, worker);
    if (what == "manifest") make_manifest(operand, out);
    if (what == "index") out << write_index(index_of(operand));
    worker.report(0, out.str());
    return {};
  });
}

}  // namespace tmeter::app
