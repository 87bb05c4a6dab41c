#include "core/process/outputs.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <termios.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/process/stray_output.hpp"
#include "core/process/terminal.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fail_call.hpp"
#include "tests/support/in_child.hpp"
#include "tests/support/interrupted.hpp"

namespace tmeter::core {
namespace {
using ::tmeter::testing::in_child;

constexpr size_t kInMemory = size_t{8} << 20;

/// Standard output becomes a file; returns what it was.
int to_file() {
  const int before = dup(STDOUT_FILENO);
  dup2(fileno(std::tmpfile()), STDOUT_FILENO);
  return before;
}

TEST(Spool, KeepsEverythingInOrderInMemoryAndBeyond) {
  for (const size_t size : {size_t{0}, kInMemory - 1, kInMemory, 3 * kInMemory}) {
    const auto done = in_child([=] {
      const int out = to_file();
      Spool s;
      s.write(std::string(size, 'x'));
      s.write("y");
      s.write("z");
      if (lseek(STDOUT_FILENO, 0, SEEK_CUR) != 0) return 1;  // too early
      dup2(out, STDOUT_FILENO);
      s.output();
      return 0;
    });
    EXPECT_EQ(done.status(), 0);
    EXPECT_EQ(done.out, std::string(size, 'x') + "yz");
  }
}

/// No file of this process can grow any more.
void allow_no_files() {
  const rlimit none{0, 0};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
}

TEST(Spool, WhatFitsInMemoryNeedsNoFileAndMoreSaysWhyItFails) {
  const auto done = in_child([] {
    allow_no_files();
    Spool s;
    s.write(std::string(kInMemory, 'x'));
    testing::expect_error(ErrorKind::kModel, {"cannot be kept in a temporary file: File too large"},
                          [&] { s.write("y"); });
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(done.status(), 0) << done.out;
}

TEST(Spool, AFileThatIsFullLaterIsTold) {
  const auto done = in_child([] {
    Spool s;
    s.write(std::string(kInMemory + 1, 'x'));
    allow_no_files();
    testing::expect_error(ErrorKind::kModel, {"cannot be kept in a temporary file: File too large"},
                          [&] {
                            s.write("y");  // perhaps buffered
                            s.write(std::string(1 << 20, 'y'));
                            s.output();
                          });
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(done.status(), 0) << done.out;
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

// --- files ------------------------------------------------------------------------------------------

/// Three reports are written; how many of them are there in the end, each with its text.
int written_files(const std::function<void(Outputs&)>& commit) {
  std::string folder = ::testing::TempDir() + "outputs-XXXXXX";
  if (!mkdtemp(folder.data())) return -1;
  const auto path = [&](int i) { return folder + "/report" + std::to_string(i); };
  const auto done = in_child([&] {
    Outputs outputs({path(0), path(1), path(2), path(3)});
    for (size_t i = 0; i < 3; ++i) outputs.write(i, "text " + std::to_string(i));  // nothing to 3
    commit(outputs);
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(done.status(), 0) << done.out;
  int whole = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    whole += text == "text " + entry.path().string().substr(path(0).size() - 1) ? 1 : 100;
  }
  std::filesystem::remove_all(folder);
  return whole;
}

TEST(Outputs, FilesAreSyncedAtOnceOrWhereNoThreadCanBeHadOneAfterTheOther) {
  EXPECT_EQ(written_files([](Outputs& outputs) { outputs.commit(); }), 3);
  const auto alone = [](Outputs& outputs) {
    for (const long call : {SYS_clone, SYS_clone3}) testing::fail_call(call, EAGAIN);
    outputs.commit();
  };
  EXPECT_EQ(written_files(alone), 3);
}

TEST(Outputs, WhenOneCannotBeSyncedNoneAppears) {
  const auto full = [](Outputs& outputs) {
    testing::fail_call(SYS_fsync, ENOSPC);
    testing::expect_error(ErrorKind::kModel, {"report0", "No space left"}, [&] { outputs.commit(); });
  };
  EXPECT_EQ(written_files(full), 0);
}

// --- the terminal -------------------------------------------------------------------------------

TEST(Terminal, OutputThatCannotBeWrittenIsAnErrorWithItsReason) {
  const auto done = in_child([] {
    to_file();
    allow_no_files();
    testing::expect_error(ErrorKind::kModel, {"standard output cannot be written: File too large"},
                          [] { Terminal::output("report"); });
    close(STDOUT_FILENO);
    testing::expect_error(ErrorKind::kUsage,
                          {"standard output cannot be written: Bad file descriptor"},
                          [] { Terminal::output("report"); });
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(done.status(), 0) << done.out;
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

TEST(Terminal, MessagesNobodyHearsAreNoError) {
  const auto done = in_child([] {
    close(STDERR_FILENO);
    Terminal(false).message("hello");
    return 0;
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

/// What a terminal shows of what `f` writes to standard output.
std::string on_terminal(const std::function<void()>& f) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(grantpt(master) | unlockpt(master), 0);
  const std::string slave = ptsname(master);
  const auto done = in_child([&] {
    const int terminal = open(slave.c_str(), O_RDWR | O_NOCTTY);
    termios raw{};
    tcgetattr(terminal, &raw);
    cfmakeraw(&raw);
    tcsetattr(terminal, TCSANOW, &raw);
    dup2(terminal, STDOUT_FILENO);
    f();
    std::array<char, 256> seen{};
    const auto n = read(master, seen.data(), seen.size());
    return write(STDERR_FILENO, seen.data(), static_cast<size_t>(n)) == n ? 0 : 1;
  });
  close(master);
  EXPECT_EQ(done.status(), 0);
  return done.err;
}

TEST(Terminal, WhatCouldHarmATerminalIsMadeVisibleOnOneAndPassedOnElsewhere) {
  const auto output = [] { Terminal::output("\x1b]0;title\x07 \x1b[1mbold\x1b[0m\n"); };
  EXPECT_EQ(on_terminal(output), "\\x1b]0;title\\x07 \x1b[1mbold\x1b[0m\n");
  const auto piped = in_child([&] {
    output();
    return 0;
  });
  EXPECT_EQ(piped.out, "\x1b]0;title\x07 \x1b[1mbold\x1b[0m\n");
}

// --- what plugins print -------------------------------------------------------------------------

/// The messages that come of printed text.
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

TEST(StrayOutput, EachLineIsANoteAndTheLastNeedsNoEnd) {
  const std::string by = "tmeter: note: printed by a plugin: ";
  EXPECT_EQ(notes("one\n\ntwo\nthree"), by + "one\n" + by + "two\n" + by + "three\n");
  EXPECT_EQ(notes("one\ntwo\n"), by + "one\n" + by + "two\n");
  EXPECT_EQ(notes("one\ntwo", true), "");
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
  const auto more = notes(numbered(5000));  // far more than is read at once
  EXPECT_EQ(lines(more), 21);
  EXPECT_TRUE(more.ends_with(": 20\ntmeter: note: 4980 more lines were printed by plugins\n"));
  EXPECT_EQ(notes(numbered(5000), true), "");
}

TEST(StrayOutput, ManyEmptyLinesHideNothing) {
  EXPECT_EQ(notes(std::string(20'000, '\n') + "hello"),
            "tmeter: note: printed by a plugin: hello\n");
}

TEST(StrayOutput, ALineWithoutEndIsCutAndNothingOfItLost) {
  const std::string by = "tmeter: note: printed by a plugin: ";
  const auto said = notes(std::string(2000, 'a') + std::string(3000, 'b') + "\n");
  EXPECT_EQ(said, by + std::string(2000, 'a') + "\n" + by + std::string(2000, 'b') + "\n" + by +
                      std::string(1000, 'b') + "\n");
  EXPECT_EQ(notes(std::string(2000, 'a') + "\n"), by + std::string(2000, 'a') + "\n");
}

}  // namespace
}  // namespace tmeter::core
