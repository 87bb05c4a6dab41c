// Runs of the supervisor with output that is not read, and with models that become shorter.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "core/base/interrupt.hpp"
#include "core/process/activity.hpp"
#include "core/process/supervisor.hpp"
#include "tests/support/in_child.hpp"
#include "tests/support/new_folder.hpp"

namespace tmeter::core {
namespace {
using ::tmeter::testing::in_child;

Job job_of(const std::string& subject, std::vector<std::string> targets) {
  Job j;
  j.subject = subject;
  j.targets = std::move(targets);
  j.limits.memory = uint64_t{1} << 30;
  return j;
}

/// Writes much to each target.
Work much_for(const Job& j) {
  return [&j](Worker& w) -> Outcome {
    for (size_t i = 0; i < j.targets.size(); ++i) {
      w.report(i, std::string(300'000, 'x'));
      w.report_whole(i);
    }
    return {};
  };
}

/// Makes standard output a pipe; returns the end for its reader.
int pipe_as_output() {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[1]);
  return ends[0];
}

TEST(SupervisorStreams, UnreadOutputEndsTheRunInTimeAndNoFileIsWritten) {
  const testing::NewFolder folder;
  auto j = job_of("m.pt", {"", folder / "report"});
  j.limits.timeout = 1;
  const std::string message =
      "tmeter: m.pt: standard output was not read within 1 s (--timeout); no file is written\n";
  testing::Ended done;
  for (int i = 0; i < 3 && done.err != message; ++i) {  // a busy machine may not begin in time
    done = in_child([&] {
      pipe_as_output();
      return supervise(j, much_for(j));
    });
  }
  EXPECT_EQ(done.status(), 4);
  EXPECT_EQ(done.err, message);
  EXPECT_FALSE(std::filesystem::exists(folder / "report"));
}

TEST(SupervisorStreams, ASignalEndsTheWaitForAReader) {
  const testing::NewFolder folder;
  const auto j = job_of("m.pt", {"", folder / "report"});
  const auto done = in_child([&] {
    const int reader = pipe_as_output();
    const pid_t supervisor = getpid();
    if (fork() == 0) {  // a reader that takes one byte, and ends with its parent
      char first = 0;
      if (read(reader, &first, 1) == 1) kill(supervisor, SIGINT);
      for (int i = 0; i < 2000 && getppid() == supervisor; ++i) usleep(5000);
      _exit(0);
    }
    return supervise(j, much_for(j));
  });
  EXPECT_EQ(done.status(), 130);
  EXPECT_EQ(done.err, "tmeter: interrupted; standard output is incomplete, no file is written\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "report"));
}

TEST(SupervisorStreams, ALostReaderEndsTheProgramAfterTheOtherReports) {
  const testing::NewFolder folder;
  const auto j = job_of("m.pt", {"", folder / "report"});
  const auto ends = [&](auto handler) {
    return in_child([&] {
      signal(SIGPIPE, handler);
      close(pipe_as_output());
      return supervise(j, much_for(j));
    });
  };
  const auto by_signal = ends(SIG_DFL);
  EXPECT_EQ(by_signal.status(), 128 + SIGPIPE);
  EXPECT_EQ(by_signal.err, "");
  EXPECT_EQ(std::filesystem::file_size(folder / "report"), 300'000u);
  std::filesystem::remove(folder / "report");
  const auto by_message = ends(SIG_IGN);
  EXPECT_EQ(by_message.status(), 2);
  EXPECT_EQ(by_message.err, "tmeter: standard output cannot be written: Broken pipe\n");
  EXPECT_EQ(std::filesystem::file_size(folder / "report"), 300'000u);
}

/// The end of a run on `subject`. During the run `changed` gets a new size, and the worker ends as
/// if a file had become shorter.
testing::Ended after_change(const std::string& subject, const std::string& changed, size_t size) {
  const auto j = job_of(subject, {""});
  return in_child([&] {
    return supervise(j, [&](Worker& w) -> Outcome {
      if (!w.excluded().empty()) {
        w.report_whole(0);
        return {};
      }
      w.add_participant({"/x/p.tmeter", "com.acme.p"});
      std::filesystem::resize_file(changed, size);
      activity().fatal_message.set("the file was changed");
      _exit(4);
    });
  });
}

TEST(SupervisorStreams, AModelThatBecameShorterCostsNoPlugin) {
  const testing::NewFolder folder;
  std::filesystem::create_directory(folder / "model");
  const std::string index = folder / "model/m.index.json";
  for (const auto& subject : {folder / "model/part", folder / "model", index}) {
    for (const auto& file : {folder / "model/part", folder / "model/other", index})
      std::ofstream(file) << std::string(100, 'x');
    const auto shorter = after_change(subject, folder / "model/part", 99);
    EXPECT_EQ(shorter.status(), 4) << subject;
    EXPECT_EQ(shorter.err, "tmeter: the file was changed\n");
    for (const size_t size : {99, 200}) {  // no file is shorter, so the message is not trusted
      const auto same = after_change(subject, folder / "model/part", size);
      EXPECT_EQ(same.status(), 5) << subject;
      EXPECT_EQ(same.err,
                "tmeter: the file was changed; the work is done again without plugins that are not "
                "tmeter's own: com.acme.p\n");
    }
  }
}

/// Until the supervisor has read all frames.
void wait_for_the_supervisor() {
  for (int fd = 3; fd < 2000; ++fd)
    for (int unread = 1; ioctl(fd, FIONREAD, &unread) == 0 && unread > 0;) usleep(1000);
}

TEST(SupervisorStreams, ARunOfTheModelHasTimeToReportItsMeasurements) {
  auto j = job_of("m.pt", {""});
  j.runs_model = true;
  const auto done = in_child([&] {
    return supervise(j, [](Worker& w) -> Outcome {
      w.runs_model("LibTorch");
      wait_for_the_supervisor();
      kill(getppid(), SIGINT);
      while (!Interrupt::requested()) usleep(1000);
      usleep(1'000'000);  // more than the time of other workers
      w.report(0, "so far");
      w.report_whole(0);
      Outcome e;
      e.status = 130;
      e.message = "interrupted";
      e.reports_stand = true;
      return e;
    });
  });
  EXPECT_EQ(done.status(), 130);
  EXPECT_EQ(done.out, "so far");
  EXPECT_EQ(done.err, "tmeter: interrupted\n");
}

}  // namespace
}  // namespace tmeter::core
