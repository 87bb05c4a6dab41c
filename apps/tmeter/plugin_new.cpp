// `tmeter plugin new NAME --kind KIND`: a project that builds, passes its test and `plugin check`.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/tmeter/plugin_commands.hpp"
#include "core/base/error.hpp"
#include "core/base/output_file.hpp"
#include "core/base/text.hpp"
#include "core/config/project_template.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;

constexpr std::array<const char*, 11> kKinds{"op",     "metric",   "analysis", "advice",
                                             "tensor", "loader",   "report",   "shape",
                                             "module", "observer", "executor"};

/// The name becomes a CMake target, a file, and the id of a metric.
void require_name(const std::string& name) {
  constexpr size_t kMaxNameCharacters = 40;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool good = !name.empty() && name.size() <= kMaxNameCharacters && name[0] >= 'a' &&
                    name[0] <= 'z' && std::all_of(name.begin(), name.end(), fits);
  if (!good) {
    throw Error(ErrorKind::kUsage, "plugin new " + printable(name) +
                                       ": a name begins with a small letter and has small letters, "
                                       "digits and '_', at most 40");
  }
}

void require_kind(const std::string& kind) {
  if (std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end()) return;
  std::string kinds;
  for (const char* k : kKinds) kinds += (kinds.empty() ? "" : ", ") + std::string(k);
  throw Error(ErrorKind::kUsage,
              (kind.empty() ? "`plugin new` needs --kind: "
                            : "--kind " + printable(kind) + ": no such kind; there are ") +
                  kinds + did_you_mean(kind, {kKinds.begin(), kKinds.end()}));
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ErrorKind::kUsage,
                path.string() + " is missing: it comes with tmeter, install it again");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// Quotes a word of a command for a shell, if necessary.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:@%=";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return text;
  return "'" + replaced(text, "'", "'\\''") + "'";
}

/// Commands that the user can copy, for the current folder.
std::string next_steps(const std::string& folder) {
  // A folder called "-x" would be read as an option.
  const auto path = folder.starts_with('-') ? "./" + folder : folder;
  const auto prefix = fs::weakly_canonical(fs::path(data_folder()) / ".." / "..");
  const auto build = shell_word((fs::path(path) / "build").string());
  return "  cmake -S " + shell_word(path) + " -B " + build +
         " -DCMAKE_PREFIX_PATH=" + shell_word(prefix.string()) + "\n  cmake --build " + build +
         "\n  ctest --test-dir " + build + " --output-on-failure\n";
}

/// A folder that appears complete or not at all.
class NewFolder {
 public:
  explicit NewFolder(const std::string& path)
      : path_(path), temporary_(path + ".being-made-" + std::to_string(getpid())) {
    if (std::error_code ignored; fs::exists(fs::symlink_status(path_, ignored)))
      fail("exists already; nothing was changed");
    if (std::error_code failed; !fs::create_directory(temporary_, failed))
      fail("cannot be created: " + failed.message());
  }
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    OutputFile file((temporary_ / name).string());
    file.write(text);
    file.commit();
  }
  void commit() const {
    std::error_code failed;
    fs::rename(temporary_, path_, failed);
    if (failed) fail("cannot be created: " + failed.message());
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::kUsage, "the folder " + printable(path_.string()) + " " + why);
  }
  fs::path path_, temporary_;
};

}  // namespace

int new_plugin(const std::string& name, const std::string& kind, const std::string& folder) {
  require_name(name);
  require_kind(kind);
  const auto templates = fs::path(data_folder()) / "template", own = templates / kind;
  const auto project = read_project_template((own / "project.toml").string());
  const auto text = [&](const fs::path& path) {
    auto out = replaced(content(path), "@about@", project.about);
    out = replaced(std::move(out), "@try@", project.trial);
    return replaced(replaced(std::move(out), "@test@", project.test), "@name@", name);
  };
  const auto path = folder.empty() ? name : folder;
  const NewFolder target(path);
  target.write("CMakeLists.txt", text(templates / "common" / "CMakeLists.txt"));
  target.write("README.md", text(templates / "common" / "README.md"));
  target.write(name + ".cpp", text(own / "plugin.cpp"));
  for (const auto& file : project.files)
    target.write(file, content(fs::exists(own / file) ? own / file : templates / "common" / file));
  target.commit();
  Terminal::output(printable(path) + ": created. Next:\n" + next_steps(path));
  return 0;
}

}  // namespace tmeter::app
