// Streaming of tensors: every element is delivered once and in order, merges happen in order, the
// values do not depend on the number of threads, and every state is released.
#include "core/analysis/tensor_stream.hpp"

#include <tmeter/abi/builder.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <numeric>
#include <set>

#include "core/plugin_host/handles.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

/// A state that records its elements; instances are counted, so a leak is noticed.
struct Seen {
  std::vector<uint32_t> elements;
  std::vector<int64_t> chunk_begins;
  const Seen* earlier = nullptr;
};
struct Script {
  std::set<std::string> unwanted;
  int32_t passes = 1;
  std::string fail_in;  // "begin", "chunk", "merge", "end"
  bool one_thread = false;
  std::vector<std::string> begun;  // parts, on a single thread
  std::atomic<int> alive{0};
};

tmeter_status maybe_fail(tmeter_call* call, void* user, const char* where) {
  if (static_cast<Script*>(user)->fail_in != where) return TMETER_OK;
  call->frame.error = std::string("broken in ") + where;
  return TMETER_INTERNAL;
}

const tmeter_tensor_analysis& analysis(Script& script) {
  static tmeter_tensor_analysis a;
  a = {sizeof a,
       0,
       {"probe", 5},
       {},
       [](tmeter_call*, const tmeter_tensor* t, void* user) -> int32_t {
         return !static_cast<Script*>(user)->unwanted.contains(std::string(from_handle(t)->name));
       },
       [](tmeter_call* c, const tmeter_tensor_part* part, void** state, void* user) {
         *state = new Seen{{}, {}, static_cast<const Seen*>(part->earlier)};
         auto& script = *static_cast<Script*>(user);
         ++script.alive;
         if (script.one_thread) script.begun.emplace_back(from_handle(part->tensor)->name);
         return maybe_fail(c, user, "begin");
       },
       [](tmeter_call* c, void* state, const tmeter_chunk* chunk, void* user) {
         auto& seen = *static_cast<Seen*>(state);
         seen.chunk_begins.push_back(chunk->first);
         const auto* p = reinterpret_cast<const uint32_t*>(chunk->bytes.ptr);
         seen.elements.insert(seen.elements.end(), p, p + chunk->count);
         return maybe_fail(c, user, "chunk");
       },
       [](tmeter_call* c, void* state, void* other, void* user) {
         auto& a = *static_cast<Seen*>(state);
         const auto& b = *static_cast<Seen*>(other);
         a.elements.insert(a.elements.end(), b.elements.begin(), b.elements.end());
         a.chunk_begins.insert(a.chunk_begins.end(), b.chunk_begins.begin(), b.chunk_begins.end());
         return maybe_fail(c, user, "merge");
       },
       [](tmeter_call* c, const tmeter_tensor_part* whole, void* state, int32_t* again,
          void* user) -> tmeter_status {
         const auto* script = static_cast<Script*>(user);
         const auto* earlier = static_cast<Seen*>(state)->earlier;
         if (whole->pass > 0 && (!earlier || earlier->elements.empty())) return TMETER_INTERNAL;
         *again = whole->pass + 1 < script->passes;
         return maybe_fail(c, user, "end");
       },
       [](tmeter_call*, const tmeter_tensor*, void*, void*) -> tmeter_status { return TMETER_OK; },
       [](void* state, void* user) {
         delete static_cast<Seen*>(state);
         --static_cast<Script*>(user)->alive;
       },
       &script};
  return a;
}

/// A file of increasing uint32 elements and a graph of tensors over it.
struct Model {
  static constexpr int64_t kElements = int64_t{12} << 20;
  std::string path =  // tests run in parallel
      ::testing::TempDir() + "stream-" + std::to_string(getpid()) + ".bin";
  std::unique_ptr<MappedFile> file;
  GraphBuilder builder;
  std::unique_ptr<Graph> graph;

  ~Model() { std::remove(path.c_str()); }
  explicit Model(int64_t elements = kElements, size_t skip = 0) {
    std::vector<uint32_t> numbers(static_cast<size_t>(elements));
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::ofstream out(path, std::ios::binary);
    out << std::string(skip, '\0');
    out.write(reinterpret_cast<const char*>(numbers.data()), elements * 4);
    out.close();
    file = std::make_unique<MappedFile>(path);
    builder.module(0, "", "Net");
  }
  void tensor(const std::string& name, std::vector<int64_t> dims,
              std::optional<std::vector<int64_t>> strides = {}, int64_t offset = 0,
              int64_t file_offset = 0) {
    TensorSpec s;
    s.dtype = TMETER_DTYPE_INT32;
    s.name = name;
    s.owner = 1;
    s.dims = dims;
    if (strides) s.strides = std::span<const int64_t>(*strides);
    s.storage_offset = offset;
    s.file_offset = file_offset;
    s.storage_bytes = static_cast<int64_t>(file->bytes().size()) - file_offset;
    builder.tensor(s);
  }
  const Graph& finish() {
    graph = builder.finish();
    return *graph;
  }
};

struct Probe {
  Script script;
  Plugin plugin;
  CallLog log{-1};
  std::map<std::string, std::vector<uint32_t>> elements;
  std::map<std::string, std::vector<int64_t>> chunks;
  std::vector<std::string> order;

  void operator()(Model& model, unsigned threads) {
    const auto& graph = model.graph ? *model.graph : model.finish();
    const TensorBytes tensors(*model.file);
    TensorStream stream(graph, {{&plugin, &analysis(script)}}, tensors, log);
    stream.run(threads, [&](const TensorUse&, const Tensor& t, void* state) {
      if (script.fail_in == "emit") throw Error(ErrorKind::kPlugin, "broken in emit");
      order.emplace_back(t.name);
      elements[order.back()] = static_cast<Seen*>(state)->elements;
      chunks[order.back()] = static_cast<Seen*>(state)->chunk_begins;
    });
  }
};

std::vector<uint32_t> iota(uint32_t first, size_t count) {
  std::vector<uint32_t> v(count);
  std::iota(v.begin(), v.end(), first);
  return v;
}

TEST(TensorStream, EveryElementIsSeenOnceAndInOrderWithAnyNumberOfThreads) {
  Model model;
  model.tensor("big", {3000, 4000});
  model.tensor("small", {7}, {}, 11);
  model.tensor("scalar", {}, {}, 5);
  model.tensor("empty", {0, 4});
  for (const unsigned threads : {1u, 2u, 5u}) {
    Probe run;
    run(model, threads);
    EXPECT_EQ(run.elements["big"], iota(0, 12'000'000)) << threads;
    EXPECT_EQ(run.elements["small"], iota(11, 7));
    EXPECT_EQ(run.elements["scalar"], iota(5, 1));
    EXPECT_EQ(run.elements["empty"], iota(0, 0));
    EXPECT_EQ(run.order, (std::vector<std::string>{"big", "small", "scalar", "empty"}));
    EXPECT_EQ(run.script.alive, 0);
  }
}

TEST(TensorStream, ChunksHoldWholeRows) {
  Model model;
  model.tensor("rows", {3000, 4000});
  model.tensor("one_long_row", {2, 3'000'000});
  Probe run;
  run(model, 2);
  for (const auto begin : run.chunks["rows"]) EXPECT_EQ(begin % 4000, 0);
  for (const auto begin : run.chunks["one_long_row"]) EXPECT_EQ(begin % 4096, 0);
  EXPECT_GT(run.chunks["one_long_row"].size(), 2u);
}

TEST(TensorStream, StridedAndMisalignedTensorsComeInRowMajorOrder) {
  Model model(1000, 1);  // elements at odd addresses
  model.tensor("transposed", {2, 3}, std::vector<int64_t>{1, 10}, 100, 1);
  model.tensor("misaligned", {4}, {}, 3, 1);
  Probe run;
  run(model, 2);
  EXPECT_EQ(run.elements["transposed"], (std::vector<uint32_t>{100, 110, 120, 101, 111, 121}));
  EXPECT_EQ(run.elements["misaligned"], iota(3, 4));
}

TEST(TensorStream, TheLargestTensorsAreReadFirstAndDeliveredInOrder) {
  // One thread processes a whole tensor; a large one at the end would leave the other threads idle.
  // So the largest come first, at most sixteen, to limit a disk's seeks; equal ones keep the file's
  // order.
  Model model(4000);
  int64_t at = 0;
  const auto add = [&](const std::string& name, int64_t numel) {
    model.tensor(name, {numel}, {}, at);
    at += numel;
  };
  add("embedding", 1000);
  for (int i = 0; i < 20; ++i) add("layer" + std::to_string(i), 50);
  add("head", 1000);
  Probe run;
  run.script.one_thread = true;
  run(model, 1);
  ASSERT_EQ(run.script.begun.size(), 22u);
  EXPECT_EQ(run.script.begun[0], "embedding");
  EXPECT_EQ(run.script.begun[1], "head");
  EXPECT_EQ(run.script.begun[2], "layer0");
  EXPECT_EQ(run.script.begun[21], "layer19");
  EXPECT_EQ(run.order.front(), "embedding");
  EXPECT_EQ(run.order.back(), "head");
  EXPECT_EQ(run.elements["head"], iota(2000, 1000));
}

TEST(TensorStream, AnotherPassSeesTheWholeTensorAgain) {
  Model model;
  model.tensor("big", {12'000'000});
  Probe run;
  run.script.passes = 3;
  run(model, 2);
  EXPECT_EQ(run.elements["big"], iota(0, 12'000'000));
  EXPECT_EQ(run.script.alive, 0);
}

TEST(TensorStream, EndlessPassesAreRefused) {
  Model model(10);
  model.tensor("x", {10});
  Probe run;
  run.script.passes = 100;
  expect_error(ErrorKind::kPlugin, {"more than 8 passes"}, [&] { run(model, 2); });
  EXPECT_EQ(run.script.alive, 0);
}

TEST(TensorStream, AnErrorAnywhereNamesTheTensorAndLeavesNoState) {
  for (const char* where : {"begin", "chunk", "merge", "end", "emit"}) {
    Model model;
    model.tensor("big", {3000, 4000});
    model.tensor("other", {3000, 4000});
    Probe run;
    run.script.fail_in = where;
    expect_error(ErrorKind::kPlugin, {std::string("broken in ") + where}, [&] { run(model, 2); });
    EXPECT_EQ(run.script.alive, 0) << where;
  }
}

TEST(TensorStream, UnwantedTensorsAreNotReadAndUnreadableOnesAreNamed) {
  Model model(10);
  model.tensor("wanted", {10});
  model.tensor("unwanted", {10});
  model.tensor("repeated", {1000, 10}, std::vector<int64_t>{0, 1});
  model.tensor("compressed", {10}, {}, 0, -1);
  Probe run;
  run.script.unwanted = {"unwanted"};
  const auto& graph = model.finish();
  const TensorBytes tensors(*model.file);
  TensorStream stream(graph, {{&run.plugin, &analysis(run.script)}}, tensors, run.log);
  stream.run(2, [](const TensorUse&, const Tensor&, void*) {});
  ASSERT_EQ(stream.unreadable().size(), 2u);
  EXPECT_EQ(stream.unreadable()[0].tensor->name, "repeated");
  EXPECT_NE(stream.unreadable()[0].why.find("repeats"), std::string_view::npos);
  EXPECT_EQ(stream.unreadable()[1].tensor->name, "compressed");
}

}  // namespace
}  // namespace tmeter::core
