#include "core/plugin_host/describe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_set>

#include "core/base/descriptor.hpp"
#include "core/base/text.hpp"
#include "core/config/manifest_index.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/library_rights.hpp"
#include "core/plugin_host/open_guarded.hpp"
#include "core/plugin_host/plugin_capabilities.hpp"
#include "core/plugin_host/plugin_instance.hpp"
#include "core/process/limits.hpp"
#include "core/process/sandbox.hpp"
#include "core/process/worker_exit.hpp"
#include "core/process/worker_memory.hpp"

namespace tmeter::core {
namespace {
using Clock = std::chrono::steady_clock;

// --- an open plugin ------------------------------------------------------------------------------

LoaderManifest describe_loader(const tmeter_loader& l) {
  LoaderManifest m{str(l.name), str(l.title), {}};
  for (uint32_t i = 0; i < l.match_count; ++i)
    m.matches.push_back({str(l.matches[i].conditions), l.matches[i].score});
  return m;
}

/// Operators and types handled for other plugins' metrics, each once.
class HandledNames {
 public:
  explicit HandledNames(Manifest& m) : list_(m.handles), own_(m.metrics.begin(), m.metrics.end()) {}
  void add(const std::string& metric, const std::string& what) {
    if (what != "*" && !own_.contains(metric) && listed_.insert(what).second) list_.push_back(what);
  }

 private:
  std::vector<std::string>& list_;
  std::unordered_set<std::string, TextHash> own_, listed_;
};

void describe_handlers(const PluginCapabilities& offers, Manifest& m) {
  HandledNames handled(m);
  for (const auto& h : offers.op_handlers) {
    const auto op = str(h.op);
    handled.add(str(h.metric), op.substr(0, op.find('.')));
  }
  for (const auto& c : offers.op_classes) {
    const auto op = str(c.op);
    handled.add({}, op.substr(0, op.find('.')));
  }
  for (const auto& r : offers.backward_rules) {
    const auto op = str(r.op);
    handled.add({}, op.substr(0, op.find('.')));
  }
  for (const auto& h : offers.module_handlers) handled.add(str(h.metric), str(h.type));
}

// --- in a process of its own ---------------------------------------------------------------------

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr double kMaxSeconds = 10;
constexpr auto kPollInterval = std::chrono::milliseconds(50);
constexpr auto kMaxWait = std::chrono::seconds(1);

/// The first byte of a reply.
enum ReplyKind : char { kDescribed = 'D', kUnusable = 'U', kFailed = 'F' };

// --- the process that opens the library ---------------------------------------------------------

void send_reply(int out, char kind, const std::string& text) {
  const auto reply = kind + text;
  size_t done = 0;
  while (done < reply.size()) {
    const auto n = write(out, reply.data() + done, reply.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<size_t>(n);
  }
}

/// Closes all descriptors of the worker, except those that plugins print to.
void keep_open(std::array<int, 2> kept) {
  std::sort(kept.begin(), kept.end());
  auto first = static_cast<unsigned>(STDERR_FILENO + 1);
  for (const int fd : kept) {
    if (fd < static_cast<int>(first)) continue;
    const auto end = static_cast<unsigned>(fd);
    if (end > first) close_range(first, end - 1, 0);
    first = end + 1;
  }
  close_range(first, ~0U, 0);
}

Rights rights_to_open(const std::string& library, const PinnedLibrary* file) {
  Rights rights;
  rights.read = paths_of_libraries();
  file ? add_folders_of(*file, rights.read) : add_folder_of(library, rights.read);
  return rights;
}

Manifest described(const std::string& library, const PinnedLibrary* file, OpenedFor opening) {
  Manifest manifest;
  open_guarded(library, opening, true, [&] {
    const auto plugin = start_plugin({library, file, false}, nullptr);
    plugin->skip_deinit();  // the plugin ends with this process
    auto offers = read_capabilities(*plugin);
    check_capabilities(*plugin, offers);
    manifest = describe(*plugin, offers);
    return !manifest.propagators.empty() || !manifest.executors.empty() ||
           manifest.rights.find("threads") != std::string::npos;
  });
  return manifest;
}

[[noreturn]] void describe_and_exit(int out, int printed, const std::string& library,
                                    const PinnedLibrary* file, OpenedFor opening) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  leave_activity();
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) dup2(printed, fd);
  keep_open({out, file ? file->descriptor() : out});
  enter_sandbox(rights_to_open(library, file));
  try {
    const auto manifest = described(library, file, opening);
    send_reply(out, kDescribed, write_index({{"plugin", {{}, manifest}}}));
  } catch (const PluginError& e) {
    send_reply(out, kFailed, e.reason());
  } catch (const std::exception& e) {
    send_reply(out, kUnusable, e.what());
  } catch (...) {
    send_reply(out, kFailed, "failed " + std::string(kWhileOpened));
  }
  _exit(0);
}

// --- the requesting worker -----------------------------------------------------------------------

/// The process, ended with its owner.
class DescribingProcess {
 public:
  DescribingProcess(const std::string& library, const PinnedLibrary* file, OpenedFor opening) {
    const auto out = pipe_into(in_), printed = pipe_into(printed_);
    fcntl(printed_.get(), F_SETFL, O_NONBLOCK);
    process_ = fork();
    if (process_ < 0) fail("fork");
    if (process_ == 0) describe_and_exit(out.get(), printed.get(), library, file, opening);
  }
  ~DescribingProcess() { end(); }
  DescribingProcess(const DescribingProcess&) = delete;
  DescribingProcess& operator=(const DescribingProcess&) = delete;

  /// The reply, up to the end of the pipe or a limit.
  std::string read() {
    const auto deadline = Clock::now() + std::chrono::duration<double>(kMaxSeconds);
    rlimit memory{};
    getrlimit(RLIMIT_DATA, &memory);
    std::string text;
    std::array<char, 4096> piece;
    for (;;) {
      std::array<pollfd, 2> fds{{{in_.get(), POLLIN, 0}, {printed_.get(), POLLIN, 0}}};
      const int any =
          poll(fds.data(), printed_ended_ ? 1 : 2, static_cast<int>(kPollInterval.count()));
      const bool ready = any > 0 && fds[0].revents != 0;
      if (any > 0 && fds[1].revents != 0) keep_printed();
      const auto n = ready ? ::read(in_.get(), piece.data(), piece.size()) : 0;
      if (n > 0) text.append(piece.data(), static_cast<size_t>(n));
      if (ready && n == 0) break;
      // The plugin's own child processes may keep the pipe open.
      if (any == 0 && has_ended()) break;
      if (text.size() > kMaxBytes) end_.cause = ExitCause::kBadFrame;
      if (Clock::now() > deadline)
        end_.cause = ExitCause::kTimeout, end_.limit = seconds_text(kMaxSeconds);
      if (memory.rlim_cur != RLIM_INFINITY && any == 0 && worker_memory(process_) > memory.rlim_cur)
        end_.cause = ExitCause::kMemory,
        end_.limit = bytes_text(memory.rlim_cur) + " (--max-memory)";
      if (end_.cause != ExitCause::kItself) break;
    }
    wait_for_end();
    end();
    keep_printed();
    return text;
  }

  /// Prints the plugin's output, which becomes notes of the worker. Only for unusable plugins: a
  /// usable one prints it again when it is opened for use.
  void report_printed() const {
    size_t done = 0;
    while (done < text_printed_.size()) {
      const auto n = write(STDERR_FILENO, text_printed_.data() + done, text_printed_.size() - done);
      if (n < 0 && errno != EINTR) return;
      if (n > 0) done += static_cast<size_t>(n);
    }
  }

  /// "crashed (abort)"
  std::string words() const { return describe_exit(end_); }
  bool ended_well() const { return end_.cause == ExitCause::kItself && end_.wait_status == 0; }

 private:
  [[noreturn]] static void fail(const char* call) {
    throw Error(ErrorKind::kRun, std::string("no process can be started (") + call + ": " +
                                     std::strerror(errno) + ")");
  }

  /// Makes a pipe; returns the end that is written.
  static Descriptor pipe_into(Descriptor& read_end) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
    read_end = Descriptor(ends[0]);
    return Descriptor(ends[1]);
  }

  /// Reads up to 64 KiB without waiting; less is shown.
  void keep_printed() {
    constexpr size_t kMaxPrinted = size_t{64} << 10;
    std::array<char, 4096> piece;
    for (int i = 0; i < 64 && !printed_ended_; ++i) {
      const auto n = ::read(printed_.get(), piece.data(), piece.size());
      if (n < 0 && errno == EAGAIN) return;
      if (n == 0) printed_ended_ = true;
      if (n <= 0) continue;
      const auto room = kMaxPrinted - text_printed_.size();
      text_printed_.append(piece.data(), std::min(static_cast<size_t>(n), room));
    }
  }

  bool has_ended() {
    if (process_ > 0 && waitpid(process_, &end_.wait_status, WNOHANG) == process_) process_ = -1;
    return process_ < 0;
  }

  void wait_for_end() {
    for (const auto until = Clock::now() + kMaxWait;
         end_.cause == ExitCause::kItself && !has_ended();
         std::this_thread::sleep_for(std::chrono::microseconds(50))) {
      if (Clock::now() > until) end_.cause = ExitCause::kBadFrame;
    }
  }

  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, &end_.wait_status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
  }

  pid_t process_ = -1;
  Descriptor in_, printed_;
  std::string text_printed_;
  bool printed_ended_ = false;
  WorkerExit end_;
};

bool is_text(const std::string& text) {
  constexpr size_t kMaxTextBytes = size_t{64} << 10;
  return text.size() <= kMaxTextBytes &&
         std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// Checks the rules of every description (check_capabilities) again: the process is untrusted.
void require_valid_manifest(const Manifest& m, const std::string& library) {
  bool sound = !m.id.empty() && !m.name.empty() && m.schema == kManifestSchema &&
               m.unavailable.empty() && m.when_missing.empty() && m.library_folders.empty();
  for (const auto* text : {&m.id, &m.name, &m.version, &m.description, &m.rights})
    sound = sound && is_text(*text);
  for (const auto* texts : {&m.needs, &m.metrics, &m.options, &m.handles, &m.shape_rules,
                            &m.propagators, &m.executors, &m.measured})
    sound = sound && std::all_of(texts->begin(), texts->end(), is_text);
  for (const auto& l : m.loaders) {
    sound = sound && is_text(l.name) && is_text(l.title);
    for (const auto& match : l.matches) sound = sound && is_text(match.conditions);
  }
  for (const auto& w : m.writers)
    sound = sound && is_text(w.name) && is_text(w.extension) && is_text(w.media_type);
  if (!sound)
    throw Error(ErrorKind::kPlugin,
                "plugin " + library + " describes itself with bytes that are not text");
  require_minor(library, m.abi_minor);
}

Manifest parsed(const std::string& text, const std::string& library) {
  ManifestIndex index;
  try {
    index = parse_index(text);
  } catch (const std::exception&) {
    index.clear();
  }
  if (index.size() != 1)
    throw Error(ErrorKind::kPlugin, "plugin " + library + " does not describe itself");
  auto& manifest = index.begin()->second.manifest;
  require_valid_manifest(manifest, library);
  return std::move(manifest);
}

}  // namespace

Manifest describe(const PluginInstance& plugin, const PluginCapabilities& offers) {
  Manifest m;
  const auto& info = plugin.info();
  m.id = str(info.id);
  m.name = str(info.name);
  m.version = str(info.version);
  m.description = str(info.description);
  m.needs = split(str(info.needs), " ");
  m.rights = str(info.rights);
  m.abi_minor = plugin.entry().abi_minor_required;
  for (const auto& x : offers.metrics) m.metrics.push_back(str(x.id));
  describe_handlers(offers, m);
  for (const auto& x : offers.shape_rules) m.shape_rules.push_back(str(x.schema));
  for (const auto& x : offers.options) m.options.push_back(str(x.key));
  for (const auto& x : offers.option_tables) m.options.push_back(str(x.key));
  for (const auto& x : offers.loaders) m.loaders.push_back(describe_loader(x));
  for (const auto& x : offers.decoders) {
    for (auto& id : split(view(x.encodings), " ")) m.decoders.push_back(std::move(id));
  }
  for (const auto& x : offers.propagators) m.propagators.push_back(str(x.name));
  for (const auto& x : offers.executors) m.executors.push_back(str(x.name));
  for (const auto& x : offers.observers) {
    for (auto& id : split(str(x.produced), " ")) m.measured.push_back(std::move(id));
  }
  for (const auto& x : offers.writers)
    m.writers.push_back({str(x.name), str(x.extension), str(x.media_type)});
  return m;
}

Manifest describe_in_subprocess(const std::string& library, const PinnedLibrary* file,
                                OpenedFor opening) {
  const PluginScope inside(library, kWhileOpened, opening);
  const auto failed = [&](const std::string& reason) {
    throw PluginError::ended(library, reason, opening != OpenedFor::kFound);
  };
  DescribingProcess process(library, file, opening);
  const auto reply = process.read();
  const bool has_reply = process.ended_well() && !reply.empty();
  if (!has_reply || reply[0] != kDescribed) process.report_printed();
  if (!has_reply) failed(process.words() + " " + std::string(kWhileOpened));
  const auto text = reply.substr(1);
  constexpr size_t kMaxPrintedBytes = 2000;
  if (reply[0] == kDescribed) return parsed(text, library);
  if (reply[0] == kFailed) failed(printable(text, kMaxPrintedBytes));
  throw Error(ErrorKind::kPlugin, printable(text, kMaxPrintedBytes));
}

}  // namespace tmeter::core
