// Workers without a supervisor's loop, each in a process of its own.
#include "core/process/worker_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <new>
#include <string>

#include "core/base/interrupt.hpp"
#include "core/process/activity.hpp"
#include "core/process/channel.hpp"
#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {

/// Numbers that a worker passes to its parent, initially 0.
struct ReportedByWorker {
  std::atomic<pid_t> worker{0}, other{0};
};

ReportedByWorker& reported_by_worker() {
  static auto* const page = new (mmap(nullptr, sizeof(ReportedByWorker), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0)) ReportedByWorker;
  return *page;
}

/// Whether the process has ended, waited for or not.
bool is_over(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string state;
  return !(file >> state >> state >> state) || state == "Z";
}

/// Waits at most ten seconds.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) usleep(2000);
  return condition();
}

/// Starts a worker that does `work`.
struct Started {
  explicit Started(Work w, bool watchful = false)
      : work(std::move(w)), process(job, work, signals, {}, watchful) {}
  bool has_begun() const {
    return comes_true([] { return reported_by_worker().worker != 0; });
  }
  bool ends() {
    return comes_true([this] { return process.has_ended(); });
  }
  Job job{.subject = {}, .targets = {""}, .limits = {.memory = uint64_t{1} << 30}};
  EndSignals signals;
  Work work;
  WorkerProcess process;
};

Outcome begin_and_wait(Worker&) {
  reported_by_worker().worker = getpid();
  for (;;) pause();
}

void expect_of_worker(const std::function<void()>& f) {
  new (&reported_by_worker()) ReportedByWorker;  // before any fork
  testing::expect_in_child([&] { f(); });
}

TEST(WorkerProcess, EndsWithItsObject) {
  expect_of_worker([] {
    bool gone = false;
    for (int i = 0; i < 3 && !gone; ++i) {  // on a busy machine its end may take longer
      reported_by_worker().worker = 0;
      {
        const Started started(begin_and_wait);
        ASSERT_TRUE(started.has_begun());
        EXPECT_FALSE(is_over(reported_by_worker().worker));
      }
      // Gone once it has been waited for.
      gone = waitpid(reported_by_worker().worker, nullptr, WNOHANG) == -1;
    }
    EXPECT_TRUE(gone);
  });
}

TEST(WorkerProcess, EndsTogetherWithTheProcessesItStarted) {
  expect_of_worker([] {
    Started started([](Worker& w) -> Outcome {
      const pid_t other = fork();
      if (other == 0)
        for (;;) pause();
      reported_by_worker().other = other;
      return begin_and_wait(w);
    });
    ASSERT_TRUE(started.has_begun());
    EXPECT_FALSE(started.process.has_ended());
    EXPECT_GT(started.process.memory(), 0u);
    started.process.end();
    ASSERT_TRUE(started.ends());
    EXPECT_TRUE(comes_true([] { return is_over(reported_by_worker().other); }));
    EXPECT_TRUE(WIFSIGNALED(started.process.wait_status()));
    EXPECT_EQ(WTERMSIG(started.process.wait_status()), SIGKILL);
    EXPECT_EQ(started.process.memory(), 0u);
    started.process.end();  // does nothing
    EXPECT_TRUE(started.process.has_ended());
  });
}

TEST(WorkerProcess, ReceivesARequestToStop) {
  expect_of_worker([] {
    Started started([](Worker&) -> Outcome {
      reported_by_worker().worker = getpid();
      while (!Interrupt::requested()) usleep(1000);
      return {};
    });
    ASSERT_TRUE(started.has_begun());
    started.process.request_stop();
    ASSERT_TRUE(started.ends());
    EXPECT_EQ(started.process.wait_status(), 0);
  });
}

TEST(WorkerProcess, HasPrivatePipesThatDoNotBlock) {
  expect_of_worker([] {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const int most = fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    const Started started(begin_and_wait);
    ASSERT_TRUE(started.has_begun());
    for (const int fd : {started.process.frames(), started.process.stray_output()}) {
      char byte = 0;
      EXPECT_EQ(read(fd, &byte, 1), -1);
      EXPECT_EQ(errno, EAGAIN);
      EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    }
    if (most == 1 << 20) {
      EXPECT_EQ(fcntl(started.process.frames(), F_GETPIPE_SZ), most);
    }
  });
}

TEST(WorkerProcess, SendsMessagesAndOutputThroughItsPipes) {
  for (const bool watchful : {false, true}) {
    expect_of_worker([=] {
      Started started(
          [](Worker& w) -> Outcome {
            w.message(activity().checks_process_state ? "watchful" : "calm");
            w.report(0, std::string(ReportMemory::kLong, 'x'));
            return {write(STDOUT_FILENO, "printed", 7) == 7 ? 0 : 1, "end", false, {}};
          },
          watchful);
      ASSERT_TRUE(started.ends());
      std::string received;
      FrameReader frames(started.process.frames());
      while (frames.read([&](const Frame& f) {
        const auto kind = std::to_string(static_cast<int>(f.kind));
        if (f.kind == FrameKind::kLongReport)
          received += started.process.long_reports().at(f.numbers[1])->substr(0, 1);
        received += kind + " " + std::string(f.text) + ";";
      })) {
      }
      EXPECT_EQ(received, std::string(watchful ? "1 watchful;" : "1 calm;") + "x9 ;7 end;");
      std::array<char, 16> printed{};
      EXPECT_EQ(read(started.process.stray_output(), printed.data(), printed.size()), 7);
      EXPECT_STREQ(printed.data(), "printed");
    });
  }
}

}  // namespace
}  // namespace tmeter::core
