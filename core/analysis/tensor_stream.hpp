// Streams the elements of tensors through the analyses that want them (sdk abi/tensor_analysis.h).
// Threads take parts in order, feed each chunk to all analyses while it is in the cache, and merge
// finished parts in order. Memory is bounded for files of any size: pages are released after every
// 2 to 8 MiB, and only a few parts per thread exist at a time.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {

/// How a tensor is cut: parts, which are analysed independently and merged in order, and chunks,
/// which fit into a core's cache. It depends only on the shape, so values do not depend on the
/// number of threads (sdk abi/tensor_analysis.h promises the rest).
struct TensorPlan {
  int64_t numel = 0, part = 1, chunk = 1;  // elements

  explicit TensorPlan(const Tensor& tensor);

  /// At least 1, so that a tensor without elements, too, has a beginning and an end.
  int64_t part_count() const { return numel == 0 ? 1 : (numel + part - 1) / part; }
  int64_t part_begin(int64_t i) const { return i * part; }
  int64_t part_end(int64_t i) const { return numel - i * part < part ? numel : (i + 1) * part; }
};

/// An analysis of a plugin of this run.
struct TensorUse {
  Plugin* plugin;
  const tmeter_tensor_analysis* analysis;
};

class TensorStream {
 public:
  /// Calls `wants` of the analyses for each tensor; streams nothing yet.
  TensorStream(const Graph& graph, std::vector<TensorUse> uses, const TensorBytes& tensors,
               CallLog& log);

  /// Calls `emit` on this thread with every finished state in the order of the tensors, once
  /// all earlier tensors are finished. Throws the first error of an analysis or of
  /// `emit`, or Error(kInterrupted) after Ctrl-C.
  using Emit = std::function<void(const TensorUse&, const Tensor&, void* state)>;
  /// Calls `finished`, unless empty, with each tensor once all of its states are emitted.
  using Finished = std::function<void(const Tensor&)>;
  void run(unsigned threads, const Emit& emit, const Finished& finished = {});

  /// Tensors that were wanted but cannot be read.
  struct Unreadable {
    const Tensor* tensor;
    const TensorUse* use;
    std::string_view why;
  };
  const std::vector<Unreadable>& unreadable() const { return unreadable_; }
  bool empty() const { return jobs_.empty(); }

 private:
  /// The state of an analysis; released by it at the end.
  class State {
   public:
    State() = default;
    explicit State(const TensorUse& use) : use_(&use) {}
    State(State&& o) noexcept : use_(o.use_), p_(std::exchange(o.p_, nullptr)) {}
    State& operator=(State&& o) noexcept {
      std::swap(use_, o.use_), std::swap(p_, o.p_);
      return *this;
    }
    ~State() {
      if (!p_) return;
      call_release(use_->plugin->call.plugin_id, "while releasing what it counted",
                   [&] { use_->analysis->release(p_, use_->analysis->user); });
    }
    void* get() const { return p_; }
    void** slot() { return &p_; }

   private:
    const TensorUse* use_ = nullptr;
    void* p_ = nullptr;
  };
  /// One per use that is active in the pass.
  using States = std::vector<State>;

  /// A tensor that is being streamed.
  struct Job {
    explicit Job(const Tensor& t) : tensor(&t), plan(t) {}
    const Tensor* tensor;
    TensorPlan plan;
    int32_t pass = 0;
    std::set<int64_t> staying;              // parts that stay mapped until the last pass ends
    uint64_t held = 0;                      // their bytes
    std::vector<size_t> active;             // uses that take part in this pass
    std::map<size_t, State> earlier, done;  // by use: states of the previous pass; final states
    std::mutex mutex;                       // guards the members below
    std::map<int64_t, States> waiting;      // finished parts after an unfinished one
    States merged;
    std::atomic<int64_t> merged_parts{0};
    bool finished = false;  // guarded by the stream's mutex
  };
  struct Span {  // the parts of a job that no thread has taken yet
    Job* job;
    int64_t next;
  };
  struct Item {
    Job* job;
    int64_t part;
    bool stays;  // stays mapped
  };
  /// The working memory of a thread: a call for every use.
  struct Worker {
    std::deque<tmeter_call> calls;
    ElementBuffer buffer;
  };

  void add_job(const Tensor& tensor);
  bool count_bytes(const Tensor& tensor);
  Worker make_worker() const;
  std::vector<std::thread> start_threads(size_t count);
  void work();
  std::optional<Item> take();
  void run_part(const Item& item, Worker& worker);
  void begin_part(const Item& item, Worker& worker, States& states);
  void feed(const Item& item, Worker& worker, const States& states);
  void finish_part(const Item& item, Worker& worker, States states);
  void merge(Job& job, States& states, Worker& worker);
  void end_pass(Job& job, Worker& worker);
  void fail(std::exception_ptr error);
  void watch(const Emit& emit, const Finished& finished);
  void emit_finished(const Emit& emit, const Finished& finished,
                     std::unique_lock<std::mutex>& lock);
  bool stays(Job& job, int64_t part);
  void release_others(const Job& job) const;
  tmeter_tensor_part describe(const Job& job, size_t use, int64_t first, int64_t count) const;

  const Graph& graph_;
  std::vector<TensorUse> uses_;
  const TensorBytes& tensors_;
  CallLog& log_;
  std::deque<Job> jobs_;  // in the order of the tensors
  std::vector<Unreadable> unreadable_;
  size_t release_bytes_ = 0;  // bytes that a thread reads before it releases pages
  int64_t window_ = 0;        // parts of a tensor that may exist at a time
  /// Bytes of the tensors of each file; the key null is the model file.
  std::map<const MappedFile*, uint64_t> bytes_to_read_;
  uint64_t total_ = 0;
  std::atomic<uint64_t> streamed_{0};  // bytes
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Span> queue_;
  uint64_t mapped_bytes_ = 0;      // bytes of parts that stay mapped
  size_t busy_ = 0, running_ = 0;  // items being worked on, threads
  size_t emitted_ = 0;             // number of emitted jobs; main thread only
  std::exception_ptr error_;
};

}  // namespace tmeter::core
