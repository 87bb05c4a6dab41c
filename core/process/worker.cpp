#include "core/process/worker.hpp"

#include <chrono>

#include "core/process/activity.hpp"

namespace tmeter::core {

namespace {
Worker* the_worker = nullptr;
}

Worker::Worker(int fd, std::vector<Excluded> excluded, ReportMemory* reports)
    : frames_(fd), excluded_(std::move(excluded)), long_reports_(reports) {
  the_worker = this;
}

Worker::~Worker() {
  if (the_worker == this) the_worker = nullptr;
}

void note_participant(const Participant& plugin) {
  if (the_worker) the_worker->add_participant(plugin);
}

void Worker::add_participant(const Participant& plugin) {
  frames_.send(FrameKind::kParticipant, 0, 0, plugin.library + '\0' + plugin.id);
}

void Worker::message(std::string_view line) { frames_.send(FrameKind::kMessage, 0, 0, line); }

void Worker::progress(uint64_t done, uint64_t total, std::string_view unit) {
  constexpr auto kInterval = std::chrono::milliseconds(50);
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const auto last = last_progress_.load();
  if (now - last < std::chrono::nanoseconds(kInterval).count()) return;
  last_progress_ = now;
  frames_.send(FrameKind::kProgress, done, total, unit);
}

void Worker::progress_ended() { frames_.send(FrameKind::kProgressEnded, 0, 0, {}); }

void Worker::runs_file(std::string_view engine) {
  activity().engine.set(engine);
  frames_.send(FrameKind::kRunsFile, 0, 0, engine);
}

void Worker::runs_model(std::string_view engine) {
  activity().engine.set(engine);
  frames_.send(FrameKind::kRunsModel, 0, 0, engine);
}

void Worker::report(size_t target, std::string_view bytes) {
  const std::lock_guard lock(reports_mutex_);
  reported_[target] += bytes.size();
  if (!long_reports_ || !long_reports_->there() || bytes.size() < ReportMemory::kLong)
    return frames_.send(FrameKind::kReport, target, 0, bytes);
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, ReportMemory::kSlotBytes);
    frames_.send(FrameKind::kLongReport, target, long_reports_->put(piece), {});
    bytes.remove_prefix(piece.size());
  }
}

void Worker::report_whole(size_t target) {
  const std::lock_guard lock(reports_mutex_);
  frames_.send(FrameKind::kReportWhole, target, reported_[target], {});
}

std::vector<std::string> Worker::enter_sandbox(const Rights& rights) {
  return core::enter_sandbox(rights);
}

void Worker::finish(const Outcome& outcome) {
  if (const auto& o = outcome.offender)
    frames_.send(FrameKind::kOffender, o->opened, o->requested, o->plugin + '\0' + o->reason);
  frames_.send(FrameKind::kFinished, static_cast<uint64_t>(outcome.status), outcome.reports_stand,
               outcome.message);
}

}  // namespace tmeter::core
