#include "core/process/outputs.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/process/stdio_attribution.hpp"
#include "core/process/stray_output.hpp"
#include "core/process/terminal.hpp"
#include "tests/support/answer_call.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fail_call.hpp"
#include "tests/support/in_child.hpp"
#include "tests/support/interrupted.hpp"
#include "tests/support/new_folder.hpp"

namespace tmeter::core {
namespace {
using ::tmeter::testing::in_child;

constexpr size_t kInMemory = size_t{8} << 20;

/// Redirects standard output to a file.
void to_file() { dup2(fileno(std::tmpfile()), STDOUT_FILENO); }

std::string all_of(Spool& spool) {
  std::string text;
  while (!spool.at_end()) text += spool.read();
  return text;
}

TEST(Spool, KeepsEverythingInOrderInMemoryAndBeyond) {
  for (const size_t size : {size_t{0}, kInMemory - 1, kInMemory, 3 * kInMemory}) {
    Spool s;
    s.write(std::string(size, 'x'));
    s.write("y");
    s.write("z");
    EXPECT_EQ(all_of(s), std::string(size, 'x') + "yz");
    s.clear();
    EXPECT_TRUE(s.at_end());
    s.write("again");
    EXPECT_EQ(all_of(s), "again");
  }
}

/// Files of this process cannot grow from now on.
void allow_no_files() {
  const rlimit none{0, 0};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
}

TEST(Spool, DataThatFitsInMemoryNeedsNoFileAndMoreReportsItsFailure) {
  testing::expect_in_child([] {
    allow_no_files();
    Spool s;
    s.write(std::string(kInMemory, 'x'));
    testing::expect_error(ErrorKind::kModel, {"cannot be kept in a temporary file: File too large"},
                          [&] { s.write("y"); });
  });
}

TEST(Spool, AFileThatCannotBeReadIsAnError) {
  testing::expect_in_child([] {
    Spool s;
    s.write(std::string(kInMemory + 1, 'x'));
    testing::fail_call(SYS_pread64, EIO);
    testing::expect_error(ErrorKind::kModel,
                          {"cannot be kept in a temporary file: Input/output error"},
                          [&] { s.read(); });
  });
}

TEST(Spool, ItsFileMayBeDescriptorZero) {
  const auto done = in_child([] {
    close(STDIN_FILENO);
    Spool s;
    for (const char c : {'x', 'y'}) s.write(std::string(kInMemory + 1, c));
    return all_of(s) == std::string(kInMemory + 1, 'x') + std::string(kInMemory + 1, 'y') ? 0 : 1;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(Spool, ItsFileIsClosedWithIt) {
  const auto done = in_child([] {
    const int before = dup(STDOUT_FILENO);
    close(before);
    { Spool().write(std::string(kInMemory + 1, 'x')); }
    return dup(STDOUT_FILENO) == before ? 0 : 1;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(Spool, AnUnusableTemporaryFolderIsSkipped) {
  for (const char* folder : {"/nonexistent", "relative", "", "/proc", "/dev/null"}) {
    for (const bool named : {false, true}) {
      const auto done = in_child([&] {
        setenv("TMPDIR", folder, 1);
        if (named) testing::fail_call(SYS_openat, EOPNOTSUPP, O_TMPFILE);
        const auto file = nameless_file();
        struct stat info {};
        if (fstat(file.get(), &info) != 0 || info.st_nlink != 0) return 1;
        return fcntl(file.get(), F_GETFD) == FD_CLOEXEC ? 0 : 2;
      });
      EXPECT_EQ(done.status(), 0) << folder;
    }
  }
}

// --- destinations
// ---------------------------------------------------------------------------------

using Kind = Destination::Kind;

TEST(Destination, AllNamesOfADescriptorAreOneDestination) {
  const std::string link = ::testing::TempDir() + "stdout-link-" + std::to_string(getpid());
  std::filesystem::create_symlink("/dev/stdout", link);
  std::filesystem::create_symlink(link, link + "2");
  std::filesystem::create_directory_symlink("/proc/self/fd", link + "-fds");
  const auto self = "/proc/" + std::to_string(getpid());
  for (const std::string& path :
       {std::string(), std::string("/dev/stdout"), std::string("/dev/fd/1"),
        std::string("/proc/self/fd/1"), std::string("/proc/thread-self/fd/1"), self + "/fd/1", link,
        link + "2", link + "-fds/1", std::string("/dev/../dev/stdout"),
        std::string("/dev/fd/../fd/1")}) {
    const auto d = find_destination(path);
    EXPECT_EQ(d.kind, Kind::kDescriptor) << path;
    EXPECT_EQ(d.descriptor, STDOUT_FILENO) << path;
    EXPECT_TRUE(is_standard_output(path)) << path;
  }
  EXPECT_EQ(find_destination("/dev/stderr").descriptor, STDERR_FILENO);
  EXPECT_EQ(find_destination("/dev/fd/63").descriptor, 63);
  EXPECT_FALSE(is_standard_output("/dev/fd/63"));
  EXPECT_EQ(find_destination("/dev/null").kind, Kind::kDevice);
  EXPECT_EQ(find_destination("/dev/not-there").kind, Kind::kDevice);
  EXPECT_EQ(find_destination("/dev/fd/x").kind, Kind::kDevice);
  for (const char* end : {"", "2", "-fds"}) std::filesystem::remove(link + end);
}

TEST(Destination, TheFileOfStandardOutputIsStandardOutputByEveryName) {
  const auto path = ::testing::TempDir() + "log-" + std::to_string(getpid());
  std::ofstream(path) << "log";
  std::filesystem::create_hard_link(path, path + "-hard");
  std::filesystem::create_symlink(path, path + "-soft");
  testing::expect_in_child([&] {
    EXPECT_EQ(find_destination(path).kind, Kind::kFile);
    dup2(open(path.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
    for (const char* end : {"", "-hard", "-soft"})
      EXPECT_TRUE(is_standard_output(path + end)) << end;
    EXPECT_FALSE(is_standard_output(path + "-other"));
  });
  for (const char* end : {"", "-hard", "-soft"}) std::filesystem::remove(path + end);
}

TEST(Destination, NamesOfDescriptorsAreWholeNumbers) {
  const auto task = "/proc/" + std::to_string(getpid()) + "/task/" + std::to_string(getpid());
  EXPECT_EQ(find_destination(task + "/fd/1").descriptor, STDOUT_FILENO);
  EXPECT_EQ(find_destination("/dev/stdin").descriptor, STDIN_FILENO);
  EXPECT_EQ(find_destination("/dev/fd/0").descriptor, STDIN_FILENO);
  for (const char* name : {"", "-1", "1x", " 1", "99999999999999999999"}) {
    const auto d = find_destination(std::string("/dev/fd/") + name);
    EXPECT_EQ(d.kind, Kind::kDevice) << name;
    EXPECT_EQ(d.descriptor, -1) << name;
  }
}

TEST(Destination, DescriptorsOfOtherProcessesAreNotDescriptors) {
  const auto done = in_child([] {
    return find_destination("/proc/" + std::to_string(getppid()) + "/fd/1").kind ==
                   Kind::kDescriptor
               ? 1
               : 0;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(Destination, LinksAreFollowedFromTheirOwnFolders) {
  const testing::NewFolder folder;
  std::filesystem::create_directory(folder / "far");
  std::filesystem::create_symlink("near", folder / "far/link");
  std::filesystem::create_symlink(
      "../../" + folder.path.substr(folder.path.rfind('/') + 1) + "/out", folder / "far/near");
  std::filesystem::create_symlink("/dev/stderr", folder / "out");
  std::filesystem::create_directory_symlink("far", folder / "short");
  for (const char* name : {"out", "far/near", "far/link", "short/link", "short/../out"})
    EXPECT_EQ(find_destination(folder / name).descriptor, STDERR_FILENO) << name;
  testing::expect_in_child([&] {
    EXPECT_EQ(chdir((folder / "far").c_str()), 0);
    EXPECT_EQ(find_destination("link").descriptor, STDERR_FILENO);
    EXPECT_EQ(find_destination("../out").descriptor, STDERR_FILENO);
    EXPECT_EQ(find_destination("nothing").kind, Kind::kFile);
  });
}

TEST(Destination, CircularLinksLeadNowhere) {
  const testing::NewFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  EXPECT_EQ(find_destination(folder / "a").kind, Kind::kFile);
}

TEST(Destination, NonRegularFilesAreDevicesAndFifosAreRecognised) {
  const testing::NewFolder folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  const auto fifo = find_destination(folder / "fifo");
  EXPECT_EQ(fifo.kind, Kind::kDevice);
  EXPECT_TRUE(fifo.is_fifo);
  EXPECT_FALSE(find_destination("/dev/null").is_fifo);
  EXPECT_EQ(find_destination(folder.path).kind, Kind::kDevice);
  EXPECT_EQ(find_destination(folder / "new").kind, Kind::kFile);
  EXPECT_EQ(find_destination("/dev/shm/tmeter-not-there").kind, Kind::kFile);
}

TEST(Destination, TheFileOfStandardErrorIsStandardError) {
  const testing::NewFolder folder;
  const auto done = in_child([&] {
    dup2(open((folder / "log").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    const auto d = find_destination(folder / "log");
    std::ofstream(folder / "other") << "other";
    EXPECT_EQ(find_destination(folder / "other").kind, Kind::kFile);
    return d.kind == Kind::kDescriptor && d.descriptor == STDERR_FILENO ? 0 : 1;
  });
  EXPECT_EQ(done.status(), 0);
}

// --- streams
// ------------------------------------------------------------------------------------------

void write_out(Outputs& outputs, std::string_view text) {
  outputs.write(0, text);
  outputs.set_whole(0);
  auto* stream = outputs.streams().at(0);
  while (!stream->done()) {
    pollfd ready{stream->fd(), POLLOUT, 0};
    poll(&ready, 1, 10);
    stream->advance();
  }
}

TEST(Streams, AFullDeviceIsAnError) {
  Outputs outputs({"/dev/full"});
  testing::expect_error(ErrorKind::kModel,
                        {"report file /dev/full cannot be written completely: No space left"},
                        [&] { write_out(outputs, "report"); });
}

TEST(Streams, UnwritablePlacesAreNamedAtOnce) {
  testing::expect_error(ErrorKind::kUsage,
                        {"/dev/tmeter-not-there cannot be written: No such file"},
                        [] { Outputs({"/dev/tmeter-not-there"}); });
  testing::expect_error(ErrorKind::kUsage, {"cannot be written: Is a directory"},
                        [] { Outputs({::testing::TempDir()}); });
  testing::expect_error(ErrorKind::kUsage, {"/dev/fd/777 cannot be written: Bad file descriptor"},
                        [] { Outputs({"/dev/fd/777"}); });
}

TEST(Streams, DevicesAreNotReplaced) {
  Outputs null({"/dev/null"});  // root must not replace it by a regular file
  write_out(null, "report");
  null.name_files();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(Streams, AFifoIsWrittenOnceAndWaitsForItsReader) {
  const auto path = ::testing::TempDir() + "fifo-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string much(300'000, 'x');
  Outputs outputs({path});
  outputs.write(0, "a first attempt");
  outputs.begin();
  EXPECT_EQ(outputs.written(0), 0u);
  EXPECT_TRUE(outputs.streams().empty());
  outputs.write(0, much);
  outputs.set_whole(0);
  auto* stream = outputs.streams().at(0);
  stream->advance();
  EXPECT_FALSE(stream->done());
  EXPECT_FALSE(stream->begun());
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  std::string seen;
  for (int i = 0; i < 1000 && seen.size() < much.size(); ++i) {
    stream->advance();
    std::array<char, 65536> buffer;
    const auto n = read(reader, buffer.data(), buffer.size());
    if (n > 0) seen.append(buffer.data(), static_cast<size_t>(n));
  }
  EXPECT_TRUE(stream->done());
  EXPECT_EQ(seen, much);
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  std::filesystem::remove(path);
}

TEST(Streams, AStalledReaderBlocksNothingAndKeepsItsDescriptorFlags) {
  const auto done = in_child([] {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return 1;
    dup2(ends[1], STDOUT_FILENO);
    Outputs outputs({""});
    outputs.write(0, std::string(1 << 20, 'x'));
    outputs.set_whole(0);
    auto* stream = outputs.streams().at(0);
    const auto begin = Clock::now();
    for (int i = 0; i < 20; ++i) stream->advance();
    if (Clock::now() - begin > std::chrono::seconds(5)) return 2;
    if (fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK) return 3;
    return stream->begun() && !stream->done() ? 0 : 4;
  });
  EXPECT_EQ(done.status(), 0);
}

/// Writes to a pipe whose reader is gone, through this descriptor.
void expect_broken_pipe(int fd, const std::string& path, const std::function<void(Outputs&)>& f) {
  const auto done = in_child([&] {
    signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return 1;
    dup2(ends[1], fd);
    close(ends[0]);
    Outputs outputs({path});
    f(outputs);
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(done.status(), 0) << done.out;
}

TEST(Streams, ALostReaderIsAnErrorExceptForStandardOutput) {
  expect_broken_pipe(STDOUT_FILENO, "", [](Outputs& outputs) {
    EXPECT_THROW(write_out(outputs, "report"), BrokenPipe);
    auto* stream = outputs.streams().at(0);
    EXPECT_FALSE(stream->done());
    stream->give_up();
    EXPECT_TRUE(stream->done());
  });
  expect_broken_pipe(9, "/dev/fd/9", [](Outputs& outputs) {
    testing::expect_error(ErrorKind::kUsage,
                          {"report file /dev/fd/9 cannot be written completely: Broken pipe"},
                          [&] { write_out(outputs, "report"); });
  });
}

TEST(Streams, ADescriptorIsWrittenIfItWasOpenedForWriting) {
  constexpr int kOwn = 9;
  for (const int mode : {O_RDONLY, O_WRONLY, O_RDWR}) {
    const auto done = in_child([&] {
      dup2(open("/dev/null", mode), kOwn);
      try {
        Outputs outputs({"/dev/fd/9"});
        EXPECT_EQ(outputs.streams().size(), 0u);  // nothing has been written
        write_out(outputs, "report");
        EXPECT_EQ(outputs.streams().at(0)->fd(), kOwn);
        EXPECT_EQ(outputs.streams().at(0)->name(), "report file /dev/fd/9");
      } catch (const Error& e) {
        EXPECT_STREQ(e.what(), "report file /dev/fd/9 cannot be written: Bad file descriptor");
        return 2;
      }
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(done.status(), mode == O_RDONLY ? 2 : 0) << done.out;
  }
}

TEST(Streams, WithoutATimerOnlyBytesThatFitAreWritten) {
  const auto done = in_child([] {
    testing::fail_call(SYS_timer_create, EAGAIN);
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return 1;
    const auto has_room = [&] {
      pollfd ready{ends[1], POLLOUT, 0};
      return poll(&ready, 1, 0) == 1;
    };
    const std::string much(300'000, 'x');
    StreamWriter writer(ends[1]);
    writer.put(much);
    std::string seen;
    std::array<char, 65536> buffer;
    while (writer.pending()) {
      while (writer.pending() && has_room())
        if (!writer.flush()) return 2;
      const auto n = read(ends[0], buffer.data(), buffer.size());
      if (n > 0) seen.append(buffer.data(), static_cast<size_t>(n));
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
      seen.append(buffer.data(), static_cast<size_t>(n));
    return seen == much ? 0 : 3;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(TerminalText, SequencesSplitBetweenPiecesAreJoined) {
  const std::string text = "ab\u00e9\u20ac\U0001f600\x1b[1;31mred\x1b[0m\xff\x1b]0;t\x07\n";
  const std::string whole = "ab\u00e9\u20ac\U0001f600\x1b[1;31mred\x1b[0m\\xff\\x1b]0;t\\x07\n";
  for (size_t size = 1; size <= text.size(); ++size) {
    TerminalText terminal;
    std::string seen;
    for (size_t at = 0; at < text.size(); at += size)
      seen += terminal.pass(text.substr(at, size), at + size >= text.size());
    EXPECT_EQ(seen, whole) << size;
  }
  TerminalText cut;
  EXPECT_EQ(cut.pass("a\xe2\x82", false), "a");
  EXPECT_EQ(cut.pass("", true), "\\xe2\\x82");
}

// --- files
// ------------------------------------------------------------------------------------------

/// Writes three reports; returns how many of them exist at the end with their text.
int written_files(const std::function<void(Outputs&)>& commit) {
  const testing::NewFolder folder;
  const auto path = [&](int i) { return folder / ("report" + std::to_string(i)); };
  testing::expect_in_child([&] {
    Outputs outputs({path(0), path(1), path(2), path(3)});
    for (size_t i = 0; i < 3; ++i)
      outputs.write(i, "text " + std::to_string(i));  // nothing is written to 3
    for (size_t i = 0; i < 4; ++i) outputs.set_whole(i);
    commit(outputs);
  });
  int whole = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    whole += text == "text " + entry.path().string().substr(path(0).size() - 1) ? 1 : 100;
  }
  return whole;
}

TEST(Outputs, FilesAreSyncedInParallelOrWithoutThreadsInSequence) {
  EXPECT_EQ(written_files([](Outputs& outputs) { outputs.sync(), outputs.name_files(); }), 3);
  const auto alone = [](Outputs& outputs) {
    for (const long call : {SYS_clone, SYS_clone3}) testing::fail_call(call, EAGAIN);
    outputs.sync();
    outputs.name_files();
  };
  EXPECT_EQ(written_files(alone), 3);
}

TEST(Outputs, AllFilesAreSyncedBeforeOneAppears) {
  static std::atomic<int> synced{0};
  for (const bool alone : {false, true}) {
    const auto sync = [=](Outputs& outputs) {
      if (alone)
        for (const long call : {SYS_clone, SYS_clone3}) testing::fail_call(call, EAGAIN);
      testing::answer_call(SYS_fsync, [](const testing::CallArguments&) {
        ++synced;
        return 0L;
      });
      outputs.sync();
      EXPECT_EQ(synced, 3);
    };
    EXPECT_EQ(written_files(sync), 0);  // without names
  }
}

TEST(Outputs, IfOneFileCannotBeSyncedNoneAppears) {
  const auto full = [](Outputs& outputs) {
    testing::fail_call(SYS_fsync, ENOSPC);
    testing::expect_error(ErrorKind::kModel, {"report0", "No space left"}, [&] { outputs.sync(); });
  };
  EXPECT_EQ(written_files(full), 0);
}

TEST(Outputs, AFileHasTheContentOfTheLastAttempt) {
  const testing::NewFolder folder;
  {
    Outputs outputs({folder / "whole", folder / "half", folder / "untouched", folder / "empty"});
    EXPECT_EQ(outputs.size(), 4u);
    for (const std::string_view text : {"a first attempt", "the second"}) {
      outputs.begin();
      for (const size_t i : {0u, 1u, 2u}) EXPECT_FALSE(outputs.is_whole(i));
      outputs.write(0, text);
      outputs.write(1, text);
      outputs.write(3, "");
      EXPECT_EQ(outputs.written(0), text.size());
      for (const size_t i : {0u, 2u, 3u}) outputs.set_whole(i);
    }
    outputs.push();
    outputs.sync();
    EXPECT_FALSE(std::filesystem::exists(folder / "whole"));
    outputs.name_files();
  }
  std::ifstream whole(folder / "whole");
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(whole), {}}), "the second");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "empty"));
  EXPECT_FALSE(std::filesystem::exists(folder / "half"));
  EXPECT_FALSE(std::filesystem::exists(folder / "untouched"));
}

TEST(Outputs, StreamsComeInTheOrderOfTheTargets) {
  Outputs outputs({"/dev/null", "", "/dev/full"});
  for (const size_t i : {0u, 1u, 2u}) outputs.write(i, "x"), outputs.set_whole(i);
  std::string names;
  for (const auto* stream : outputs.streams()) names += stream->name() + ";";
  EXPECT_EQ(names, "report file /dev/null;standard output;report file /dev/full;");
  outputs.begin();
  EXPECT_TRUE(outputs.streams().empty());
}

// --- the terminal -------------------------------------------------------------------------------

TEST(Terminal, OutputThatCannotBeWrittenIsAnErrorWithItsReason) {
  testing::expect_in_child([] {
    to_file();
    allow_no_files();
    testing::expect_error(ErrorKind::kModel, {"standard output cannot be written: File too large"},
                          [] { Terminal::output("report"); });
    close(STDOUT_FILENO);
    testing::expect_error(ErrorKind::kUsage,
                          {"standard output cannot be written: Bad file descriptor"},
                          [] { Terminal::output("report"); });
  });
}

TEST(Terminal, OutputGoesOnAfterASignal) {
  const std::string much(300'000, 'x');
  const auto done = in_child([&] {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return 1;
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    testing::LateReader late(ends[0]);
    {
      const testing::Interrupted interrupted;
      Terminal::output(much);
    }
    close(STDOUT_FILENO);
    return late.text() == much ? 0 : 2;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(Terminal, MessagesWithoutAReaderAreNotAnError) {
  const auto done = in_child([] {
    close(STDERR_FILENO);
    Terminal(false).message("hello");
    return 0;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(Terminal, AFloodOfMessagesIsCutAndTheLastMessageIsShown) {
  const auto done = in_child([] {
    Terminal terminal(false);
    for (int i = 0; i < 100'000; ++i) terminal.message("message " + std::to_string(i));
    terminal.last_message("the end");
    return 0;
  });
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1002);
  EXPECT_TRUE(
      done.err.ends_with("tmeter: note: 99000 more messages are not shown\ntmeter: the end\n"));
}

TEST(Terminal, AStalledReaderBlocksNothing) {
  const auto done = in_child([] {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return 1;
    dup2(ends[1], STDERR_FILENO);
    Terminal terminal(false);
    for (int i = 0; i < 1000; ++i) terminal.message(std::to_string(i) + std::string(4000, 'x'));
    if (!terminal.pending()) return 2;
    terminal.give_up();
    return terminal.pending() ? 3 : 0;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(Terminal, LongMessagesAreCut) {
  const auto done = in_child([] {
    Terminal(false).message(std::string(100'000, 'x'));
    return 0;
  });
  EXPECT_TRUE(done.err.starts_with("tmeter: " + std::string(3900, 'x')));
  EXPECT_LT(done.err.size(), 4100u);
}

/// The output of `f`, or what it writes to standard error, as a terminal shows it.
std::string on_terminal(const std::function<void()>& f, int shown = STDOUT_FILENO) {
  const int other = shown == STDOUT_FILENO ? STDERR_FILENO : STDOUT_FILENO;
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(grantpt(master) | unlockpt(master), 0);
  const std::string slave = ptsname(master);
  const auto done = in_child([&] {
    const int terminal = open(slave.c_str(), O_RDWR | O_NOCTTY);
    termios raw{};
    tcgetattr(terminal, &raw);
    cfmakeraw(&raw);
    tcsetattr(terminal, TCSANOW, &raw);
    dup2(terminal, shown);
    f();
    if (write(shown, "$", 1) != 1) return 1;  // what it shows may come in pieces
    std::string seen;
    for (std::array<char, 256> piece; !seen.ends_with('$');) {
      const auto n = read(master, piece.data(), piece.size());
      if (n <= 0) return 1;
      seen.append(piece.data(), static_cast<size_t>(n));
    }
    seen.pop_back();
    return write(other, seen.data(), seen.size()) == static_cast<ssize_t>(seen.size()) ? 0 : 1;
  });
  close(master);
  EXPECT_EQ(done.status(), 0);
  return other == STDOUT_FILENO ? done.out : done.err;
}

TEST(Terminal, ControlCharactersAreVisibleOnATerminalAndUnchangedElsewhere) {
  const auto output = [] { Terminal::output("\x1b]0;title\x07 \x1b[1mbold\x1b[0m\n"); };
  EXPECT_EQ(on_terminal(output), "\\x1b]0;title\\x07 \x1b[1mbold\x1b[0m\n");
  const auto piped = in_child([&] {
    output();
    return 0;
  });
  EXPECT_EQ(piped.out, "\x1b]0;title\x07 \x1b[1mbold\x1b[0m\n");
}

TEST(Terminal, AMessageAndTheEndReplaceTheLineOfTheProgress) {
  const auto shown = on_terminal(
      [] {
        Terminal terminal(true);
        usleep(1'050'000);  // shorter work shows none
        terminal.progress(1, 2, "nodes");
        terminal.message("hello");
        terminal.message("again");
        usleep(150'000);  // it is shown now and then
        terminal.progress(1, 3, "files");
      },
      STDERR_FILENO);
  const std::string clear = "\r\x1b[K";
  EXPECT_EQ(shown, clear + "1 of 2 nodes" + clear + "tmeter: hello\ntmeter: again\n" + clear +
                       "1 of 3 files" + clear);
}

// --- output of plugins -------------------------------------------------------------------------

/// The messages that result from printed text.
std::string notes(const std::string& printed, bool quiet = false) {
  const auto done = in_child([&] {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_NONBLOCK) != 0) return 1;
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    Terminal terminal(false);
    StrayOutput stray(quiet);
    if (!stray.read(ends[0], terminal)) return 2;  // nothing yet
    if (write(ends[1], printed.data(), printed.size()) != static_cast<ssize_t>(printed.size()))
      return 3;
    if (!stray.read(ends[0], terminal)) return 4;
    close(ends[1]);
    stray.finish(ends[0], terminal);
    return stray.read(ends[0], terminal) ? 5 : 0;
  });
  EXPECT_EQ(done.status(), 0);
  return done.err;
}

TEST(StrayOutput, EachLineIsANoteAndTheLastNeedsNoLineEnd) {
  const std::string by = "tmeter: note: printed by a plugin: ";
  EXPECT_EQ(notes("one\n\ntwo\nthree"), by + "one\n" + by + "two\n" + by + "three\n");
  EXPECT_EQ(notes("one\ntwo\n"), by + "one\n" + by + "two\n");
  EXPECT_EQ(notes("one\ntwo", true), "");
}

TEST(StrayOutput, AnUnreadableDescriptorIsAtItsEnd) {
  const auto done = in_child([] {
    Terminal terminal(false);
    return StrayOutput(false).read(-1, terminal) ? 1 : 0;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(StrayOutput, WithoutASupervisorNoPluginWaitsForAReader) {
  int status = -1;
  for (int i = 0; i < 3 && status != 0; ++i) {  // a busy machine may take as long
    status = in_child([] {
               std::array<int, 2> ends{};
               if (pipe(ends.data()) != 0 || write(ends[1], "unread", 6) != 6) return 1;
               dup2(ends[1], STDOUT_FILENO);
               const auto begin = Clock::now();
               attribute_stdio_to("com.acme.p");
               return Clock::now() - begin < std::chrono::milliseconds(150) ? 0 : 2;
             }).status();
  }
  EXPECT_EQ(status, 0);
}

std::string numbered(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST(StrayOutput, TwentyLinesAreShownAndTheRestCounted) {
  const auto lines = [](const std::string& s) { return std::count(s.begin(), s.end(), '\n'); };
  EXPECT_EQ(lines(notes(numbered(20))), 20);
  EXPECT_TRUE(notes(numbered(20)).ends_with(" 20\n"));
  const auto more = notes(numbered(5000));  // far more than one read returns
  EXPECT_EQ(lines(more), 21);
  EXPECT_TRUE(more.ends_with(": 20\ntmeter: note: 4980 more lines were printed by plugins\n"));
  EXPECT_EQ(notes(numbered(5000), true), "");
}

TEST(StrayOutput, EmptyLinesDoNotHideOtherLines) {
  EXPECT_EQ(notes(std::string(20'000, '\n') + "hello"),
            "tmeter: note: printed by a plugin: hello\n");
}

TEST(StrayOutput, ALongLineIsSplitWithoutLoss) {
  const std::string by = "tmeter: note: printed by a plugin: ";
  const auto message = notes(std::string(2000, 'a') + std::string(3000, 'b') + "\n");
  EXPECT_EQ(message, by + std::string(2000, 'a') + "\n" + by + std::string(2000, 'b') + "\n" + by +
                         std::string(1000, 'b') + "\n");
  EXPECT_EQ(notes(std::string(2000, 'a') + "\n"), by + std::string(2000, 'a') + "\n");
}

}  // namespace
}  // namespace tmeter::core
