#include "core/analysis/tensor_stream.hpp"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <thread>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/interrupt.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter::core {
namespace {

constexpr int64_t kChunkBytes = int64_t{256} << 10;  // fits into the L2 cache
constexpr int64_t kPartBytes = int64_t{16}
                               << 20;  // large compared with the cost of begin and merge
constexpr int64_t kMaxRowBytes = int64_t{4} << 20;  // longer rows are split
constexpr int64_t kSplitElements = 4096;
constexpr int32_t kMaxPasses = 8;
// In real files each byte belongs to one tensor, or to two if views were saved with their base.
constexpr uint64_t kMaxReadsPerByte = 8, kAlwaysReadBytes = 64 << 20;
// Bytes that a thread reads before it releases their pages. Few threads release more at a time,
// since a release stops all others.
constexpr size_t kMinReleaseBytes = 2 << 20, kMaxReleaseBytes = 8 << 20,
                 kReleaseBytesOfAll = 16 << 20;
// Bytes that stay mapped between two passes: mapping a page again costs a tenth of reading it.
constexpr uint64_t kMaxMappedBytes = 48 << 20;
constexpr uint64_t kMaxLargeTensors = 16;  // scheduled first
constexpr std::string_view kReadOften =
    "overlapping tensors are read up to eight times the size of the file, and it exceeds that";

std::string doing(const TensorUse& use, const Tensor& t) {
  return "in '" + str(use.analysis->name) + "' on tensor '" + std::string(t.name) + "'";
}

bool is_requested(const TensorUse& use, const Tensor& t) {
  const auto* a = use.analysis;
  if (!a->wants) return true;
  int32_t answer = 0;
  invoke(use.plugin->call, doing(use, t), [&](tmeter_call* c) -> tmeter_status {
    answer = a->wants(c, to_handle(&t), a->user);
    return c->frame.error.empty() ? TMETER_OK : TMETER_INTERNAL;
  });
  return answer != 0;
}

/// The size of an element as analyses receive it.
uint64_t bytes_of(const Tensor& t) {
  return static_cast<uint64_t>(t.numel * element_bytes(t.dtype));
}

/// Elements that are never split: short rows, and blocks of an encoding.
int64_t unit_of(const Tensor& t, int64_t bytes) {
  const int64_t block = t.encoding ? std::max<int64_t>(t.encoding->block_elements, 1) : 1;
  const int64_t row = t.dims.empty() ? 1 : t.numel / t.dims[0];
  const int64_t most = kMaxRowBytes / bytes;
  if (row <= most && row / std::gcd(row, block) <= most / block) return std::lcm(row, block);
  return kSplitElements / std::gcd(kSplitElements, block) * block;
}

}  // namespace

TensorPlan::TensorPlan(const Tensor& t) : numel(t.numel) {
  if (numel == 0) return;
  const int64_t bytes = std::max<int64_t>(element_bytes(t.dtype), 1);
  const int64_t unit = unit_of(t, bytes);
  chunk = std::max<int64_t>(kChunkBytes / bytes / unit, 1) * unit;
  part = std::max<int64_t>(kPartBytes / bytes / chunk, 1) * chunk;
}

TensorStream::TensorStream(const Graph& graph, std::vector<TensorUse> uses,
                           const TensorBytes& tensors, CallLog& log)
    : graph_(graph), uses_(std::move(uses)), tensors_(tensors), log_(log) {
  for (const auto& t : graph.tensors()) {
    if (t.canonical == &t) add_job(t);
  }
}

void TensorStream::add_job(const Tensor& t) {
  std::vector<size_t> interested;
  for (size_t i = 0; i < uses_.size(); ++i) {
    if (is_requested(uses_[i], t)) interested.push_back(i);
  }
  if (interested.empty()) return;
  auto why = tensors_.unavailable(t);
  if (why.empty() && !count_bytes(t)) why = kReadOften;
  if (!why.empty()) {
    for (const auto i : interested) unreadable_.push_back({&t, &uses_[i], why});
    return;
  }
  jobs_.emplace_back(t).active = std::move(interested);
  total_ += bytes_of(t);
}

/// Thousands of tensors may be windows of one storage: a small file would be read for hours.
bool TensorStream::count_bytes(const Tensor& t) {
  auto& to_read = bytes_to_read_[t.file];
  const auto bytes = static_cast<uint64_t>(std::max<int64_t>(stored_bytes(t), 0));
  if (to_read + bytes > kMaxReadsPerByte * tensors_.file_size(t) + kAlwaysReadBytes) return false;
  to_read += bytes;
  return true;
}

TensorStream::Worker TensorStream::make_worker() const {
  Worker worker;
  for (const auto& use : uses_) {
    auto& call = worker.calls.emplace_back();
    call.plugin_id = use.plugin->call.plugin_id;
    call.options = use.plugin->call.options;
    call.run.log = &log_;
    call.run.tensors = &tensors_;
    call.run.graph = &graph_;
  }
  return worker;
}

void TensorStream::run(unsigned threads, const Emit& emit, const Finished& finished) {
  if (jobs_.empty()) return;
  int64_t parts = 0;
  for (auto& job : jobs_) {
    queue_.push_back({&job, 0});
    parts += job.plan.part_count();
  }
  // In file order, which disks read fastest; but a few large tensors come first, because a single
  // thread runs `end` for a whole tensor.
  std::sort(queue_.begin(), queue_.end(), [all = total_](const Span& a, const Span& b) {
    const auto place = [all](const Tensor& t) {
      return std::tuple(bytes_of(t) < all / kMaxLargeTensors, t.file, t.file_offset,
                        t.storage_offset, t.index);
    };
    return place(*a.job->tensor) < place(*b.job->tensor);
  });
  const auto count = static_cast<size_t>(
      std::min<int64_t>(parts, std::max<int64_t>(static_cast<int64_t>(threads), 1)));
  window_ = static_cast<int64_t>(count) * 2;
  release_bytes_ = std::clamp(kReleaseBytesOfAll / count, kMinReleaseBytes, kMaxReleaseBytes);
  running_ = count;
  auto pool = start_threads(count);
  watch(emit, finished);
  for (auto& t : pool) t.join();
  if (log_.sink()) log_.sink()->progress_ended();
  if (Interrupt::requested())
    throw Error(ErrorKind::kInterrupted,
                "interrupted while the weights were read; nothing written");
  if (error_) std::rethrow_exception(error_);
}

/// Starts as many threads as the system allows. The results do not depend on their number.
std::vector<std::thread> TensorStream::start_threads(size_t count) {
  std::vector<std::thread> pool;
  try {
    while (pool.size() < count) pool.emplace_back([this] { work(); });
  } catch (const std::system_error& e) {
    if (pool.empty()) {
      throw Error(ErrorKind::kRun, std::string("no thread can be started to read weights (") +
                                       e.what() + "); see `ulimit -u` and --max-memory");
    }
    log_.add(TMETER_LOG_INFO, "tmeter", "only " + std::to_string(pool.size()) + " threads started");
    const std::lock_guard lock(mutex_);
    running_ -= count - pool.size();
  }
  return pool;
}

/// The main thread emits finished tensors, shows progress and passes Ctrl-C on.
void TensorStream::watch(const Emit& emit, const Finished& finished) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return emitted_ < jobs_.size() && jobs_[emitted_].finished; };
  while (running_ > 0 || (ready() && !stop_)) {
    changed_.wait_for(lock, std::chrono::milliseconds(100),
                      [&] { return running_ == 0 || (ready() && !stop_); });
    emit_finished(emit, finished, lock);
    if (log_.sink()) log_.sink()->progress(streamed_, total_, "B");
    if (Interrupt::requested()) {
      stop_ = true;
      changed_.notify_all();
    }
  }
}

void TensorStream::emit_finished(const Emit& emit, const Finished& finished,
                                 std::unique_lock<std::mutex>& lock) {
  for (; emitted_ < jobs_.size() && jobs_[emitted_].finished && !stop_; ++emitted_) {
    lock.unlock();
    auto& job = jobs_[emitted_];
    try {
      for (auto& [use, state] : job.done) emit(uses_[use], *job.tensor, state.get());
      if (finished) finished(*job.tensor);
    } catch (...) {
      fail(std::current_exception());
    }
    job.done.clear();
    lock.lock();
  }
}

void TensorStream::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  stop_ = true;
  changed_.notify_all();
}

void TensorStream::work() {
  try {
    auto worker = make_worker();
    while (const auto item = take()) {
      run_part(*item, worker);
      const std::lock_guard lock(mutex_);
      --busy_;
      changed_.notify_all();
    }
  } catch (...) {
    fail(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

/// Takes the next part; nothing at the end. A part waits while too many earlier parts of its tensor
/// are unmerged. Those are in progress, so it cannot wait forever.
std::optional<TensorStream::Item> TensorStream::take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stop_) return std::nullopt;
    if (queue_.empty() && busy_ == 0) return std::nullopt;
    if (!queue_.empty() && queue_.front().next < queue_.front().job->merged_parts + window_) {
      auto& span = queue_.front();
      const Item item{span.job, span.next, stays(*span.job, span.next)};
      ++span.next;
      if (span.next == span.job->plan.part_count()) queue_.pop_front();
      ++busy_;
      return item;
    }
    changed_.wait(lock);
  }
}

/// Decides whether a part stays mapped until the last pass over its tensor. Needs the mutex.
bool TensorStream::stays(Job& job, int64_t part) {
  if (job.pass > 0) return job.staying.contains(part);
  const uint64_t bytes = static_cast<uint64_t>(
      (job.plan.part_end(part) - job.plan.part_begin(part)) * element_bytes(job.tensor->dtype));
  if (mapped_bytes_ + bytes > kMaxMappedBytes) return false;
  mapped_bytes_ += bytes;
  job.held += bytes;
  job.staying.insert(part);
  return true;
}

/// Releases the pages that `end` has read again, except those of parts that stay mapped.
void TensorStream::release_others(const Job& job) const {
  for (int64_t part = 0; part < job.plan.part_count(); ++part) {
    const int64_t begin = job.plan.part_begin(part);
    if (!job.staying.contains(part))
      tensors_.release(*job.tensor, begin, job.plan.part_end(part) - begin);
  }
}

tmeter_tensor_part TensorStream::describe(const Job& job, size_t use, int64_t first,
                                          int64_t count) const {
  const auto earlier = job.earlier.find(use);
  return {sizeof(tmeter_tensor_part),
          job.pass,
          to_handle(job.tensor),
          first,
          count,
          earlier == job.earlier.end() ? nullptr : earlier->second.get()};
}

void TensorStream::begin_part(const Item& item, Worker& worker, States& states) {
  const auto& job = *item.job;
  const int64_t begin = job.plan.part_begin(item.part), end = job.plan.part_end(item.part);
  for (const auto i : job.active) {
    const auto* a = uses_[i].analysis;
    const auto part = describe(job, i, begin, end - begin);
    auto& state = states.emplace_back(uses_[i]);
    invoke(worker.calls[i], doing(uses_[i], *job.tensor),
           [&](tmeter_call* c) { return a->begin(c, &part, state.slot(), a->user); });
  }
}

void TensorStream::feed(const Item& item, Worker& worker, const States& states) {
  const auto& job = *item.job;
  const int64_t end = job.plan.part_end(item.part);
  int64_t held = job.plan.part_begin(item.part);  // pages from here on are not released yet
  size_t held_bytes = 0;
  for (int64_t at = held; at < end && !stop_; at += job.plan.chunk) {
    const int64_t count = std::min(job.plan.chunk, end - at);
    const auto bytes = tensors_.view(*job.tensor, at, count, worker.buffer);
    const tmeter_chunk chunk{sizeof(tmeter_chunk),
                             0,
                             at,
                             count,
                             {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}};
    for (size_t k = 0; k < states.size(); ++k) {
      const auto i = job.active[k];
      const auto* a = uses_[i].analysis;
      invoke(worker.calls[i], doing(uses_[i], *job.tensor),
             [&](tmeter_call* c) { return a->chunk(c, states[k].get(), &chunk, a->user); });
    }
    streamed_ += bytes.size();
    held_bytes += bytes.size();
    if (item.stays || (held_bytes < release_bytes_ && at + count < end)) continue;
    tensors_.release(*job.tensor, held, at + count - held);
    held = at + count;
    held_bytes = 0;
  }
}

void TensorStream::run_part(const Item& item, Worker& worker) {
  const auto& job = *item.job;
  const int64_t begin = job.plan.part_begin(item.part), end = job.plan.part_end(item.part);
  States states;
  tensors_.expect(*job.tensor, begin, end - begin);
  begin_part(item, worker, states);
  feed(item, worker, states);
  if (!stop_) finish_part(item, worker, std::move(states));
}

void TensorStream::merge(Job& job, States& states, Worker& worker) {
  if (job.merged_parts == 0) {
    job.merged = std::move(states);
    return;
  }
  for (size_t k = 0; k < states.size(); ++k) {
    const auto i = job.active[k];
    const auto* a = uses_[i].analysis;
    invoke(worker.calls[i], doing(uses_[i], *job.tensor), [&](tmeter_call* c) {
      return a->merge(c, job.merged[k].get(), states[k].get(), a->user);
    });
  }
}

void TensorStream::finish_part(const Item& item, Worker& worker, States states) {
  auto& job = *item.job;
  {
    const std::lock_guard lock(job.mutex);
    job.waiting.emplace(item.part, std::move(states));
    for (auto it = job.waiting.begin(); it != job.waiting.end() && it->first == job.merged_parts;
         it = job.waiting.begin()) {
      merge(job, it->second, worker);
      job.waiting.erase(it);
      ++job.merged_parts;
    }
    if (job.merged_parts < job.plan.part_count()) return;
  }
  end_pass(job, worker);  // no other thread has a part of this tensor now
}

void TensorStream::end_pass(Job& job, Worker& worker) {
  std::vector<size_t> again_list;
  std::map<size_t, State> kept;
  for (size_t k = 0; k < job.active.size(); ++k) {
    const auto i = job.active[k];
    const auto* a = uses_[i].analysis;
    const auto whole = describe(job, i, 0, job.plan.numel);
    int32_t again = 0;
    invoke(worker.calls[i], doing(uses_[i], *job.tensor),
           [&](tmeter_call* c) { return a->end(c, &whole, job.merged[k].get(), &again, a->user); });
    if (again) again_list.push_back(i);
    (again ? kept : job.done).emplace(i, std::move(job.merged[k]));
  }
  if (again_list.empty())
    tensors_.release(*job.tensor, 0, job.plan.numel);
  else
    release_others(job);
  job.merged.clear();
  job.earlier = std::move(kept);
  if (again_list.empty()) {
    const std::lock_guard lock(mutex_);
    mapped_bytes_ -= job.held;
    job.finished = true;
    changed_.notify_all();
    return;
  }
  if (++job.pass >= kMaxPasses) {
    const auto& use = uses_[again_list[0]];
    throw PluginError(use.plugin->manifest.id, doing(use, *job.tensor),
                      "it requests more than 8 passes over a tensor");
  }
  job.active = std::move(again_list);
  job.merged_parts = 0;
  const std::lock_guard lock(mutex_);
  total_ += bytes_of(*job.tensor);
  queue_.push_front({&job, 0});
  changed_.notify_all();
}

}  // namespace tmeter::core
