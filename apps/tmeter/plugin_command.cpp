// `tmeter plugin list|info|manifest|index|check|new`.
#include <algorithm>
#include <functional>
#include <iomanip>
#include <set>
#include <sstream>

#include "apps/tmeter/commands.hpp"
#include "apps/tmeter/plugin_commands.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/config/linked_libraries.hpp"
#include "core/plugin_host/asked_apart.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/supervisor.hpp"

namespace tmeter::app {
namespace {
using namespace core;

std::string offers(const Manifest& m) {
  std::vector<std::string> parts;
  if (!m.metrics.empty()) parts.push_back("metrics " + joined(m.metrics));
  for (const auto& l : m.loaders) parts.push_back("reads " + l.title);
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

/// The sidecar manifest of a library, with where its own libraries lie. This process does not open
/// it: what a plugin says of itself is all that it can say.
void make_manifest(const std::string& library, std::ostream& out) {
  const OpenedLibrary file(library);
  const auto by_descriptor = file.path_by_descriptor();
  auto manifest = asked_apart(library, &file, Opening::kWanted);
  manifest.made_from = identity_of(by_descriptor);
  for (auto& folder : linked_folders(file.descriptor(), file.folder())) {
    if (folder != file.folder()) manifest.library_folders.push_back(std::move(folder));
  }
  out << write_manifest(manifest);
}

constexpr double kSecondsToCheck = 30;

const std::set<std::string_view> kOfOne{"info", "manifest", "index", "check", "new"};

[[noreturn]] void refuse() {
  throw Error(ErrorKind::kUsage,
              "`tmeter plugin` knows: list, info NAME, check FILE, new NAME --kind KIND [--output "
              "FOLDER], manifest FILE [--output FILE], index FOLDER; with --plugin-path DIR, --plugin FILE");
}

}  // namespace

int plugin_command(const Arguments& arguments) {
  add_plugin_host_interfaces();
  Settings settings;
  std::string output, kind;
  Arguments words;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& a = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (a == "--output" && has_value) {
      output = arguments[++i];
    } else if (a == "--kind" && has_value) {
      kind = arguments[++i];
    } else if (a == "--plugin-path" && has_value) {
      settings.plugin_paths.push_back(arguments[++i]);
    } else if (a == "--plugin" && has_value) {
      settings.plugin_files.push_back(arguments[++i]);
    } else if (a.starts_with("-")) {
      throw Error(ErrorKind::kUsage,
                  "unknown option '" + a + "' of `tmeter plugin`" +
                      did_you_mean(a, {"--output", "--kind", "--plugin-path", "--plugin"}));
    } else {
      words.push_back(a);
    }
  }
  const std::string what = words.empty() ? "list" : words[0];
  const bool known =
      (what == "list" && words.size() <= 1) || (kOfOne.contains(what) && words.size() == 2);
  if (!known) refuse();
  if (what == "new") return new_plugin(words[1], kind, output);
  if (what == "check") {
    Job job{words[1], {output}, {}, false, 0, false};
    job.limits.memory = default_max_memory();
    job.limits.timeout = kSecondsToCheck;
    return supervise(job, [&](Worker& worker) {
      auto ending = check_plugin(words[1], worker);
      worker.report_whole(0);
      return ending;
    });
  }
  if (what == "index") output = words[1] + "/" + std::string(kIndexName);
  return supervise_command(output, [&](Worker& worker) -> Ending {
    std::ostringstream out;
    if (what == "list") list_plugins(settings, worker, out);
    if (what == "info") out << plugin_facts(settings, words[1], worker);
    if (what == "manifest") make_manifest(words[1], out);
    if (what == "index") out << write_index(index_of(words[1]));
    worker.report(0, out.str());
    return {};
  });
}

}  // namespace tmeter::app
