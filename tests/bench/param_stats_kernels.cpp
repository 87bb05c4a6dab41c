// The speed of the collectors of param-stats alone, on data in memory:
//
//   build/release/tests/param_stats_kernels [THREADS]
//
// Normal weights, the same with nine in ten set to zero, and all zeros; 16 MiB parts fed in 256 KiB
// chunks, as the host does. Measures processor time, which other work on the machine hardly
// changes. Not a test: built only by name (ninja param_stats_kernels).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <thread>

#include "plugins/metrics/param_stats/collector.hpp"

namespace {

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Kind {
  const char* name;
  unsigned zeros;  // of a hundred elements
};
constexpr Kind kKinds[]{{"normal", 0}, {"pruned", 90}, {"zeros", 100}};

constexpr size_t kPart = size_t{16} << 20, kChunk = size_t{256} << 10;
constexpr int kParts = 32;

/// One part. All parts of the tensor are equal, which does not affect the time.
std::vector<uint8_t> part_of(int32_t dtype, const Kind& kind) {
  std::vector<uint8_t> bytes(kPart);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.02f);
  const auto fill = [&](auto convert) {
    using Stored = decltype(convert(0.f));
    for (size_t i = 0; i + sizeof(Stored) <= bytes.size(); i += sizeof(Stored)) {
      const float x = normal(random);
      const Stored v = convert(random() % 100 < kind.zeros ? 0.f : x);
      std::memcpy(&bytes[i], &v, sizeof v);
    }
  };
  if (dtype == TMETER_DTYPE_BFLOAT16)
    fill([](float x) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); });
  if (dtype == TMETER_DTYPE_FLOAT32) fill([](float x) { return x; });
  if (dtype == TMETER_DTYPE_FLOAT64) fill([](float x) { return static_cast<double>(x); });
  if (dtype == TMETER_DTYPE_INT32)  // eight weights of four bits each
    fill([](float x) { return static_cast<int32_t>(std::bit_cast<uint32_t>(x) * 2654435761u); });
  if (dtype == TMETER_DTYPE_INT64) fill([](float x) { return int64_t{std::lround(x * 1e6f)}; });
  if (dtype == TMETER_DTYPE_INT8)
    fill([](float x) { return static_cast<int8_t>(std::lround(x * 1000)); });
  return bytes;
}

/// All passes of one thread over a tensor of kParts parts.
void run_tensor(tmeter::DType type, const std::vector<uint8_t>& part) {
  param_stats::Statistics statistics;
  std::unique_ptr<param_stats::Collector> earlier;
  const auto numel = static_cast<int64_t>(part.size()) * kParts / type.bytes();
  for (;;) {
    std::unique_ptr<param_stats::Collector> merged;
    for (int p = 0; p < kParts; ++p) {
      auto state = earlier ? earlier->next() : param_stats::make_collector(type, numel);
      for (size_t at = 0; at < part.size(); at += kChunk)
        state->add(std::span(part).subspan(at, kChunk));
      if (merged)
        merged->merge(*state);
      else
        merged = std::move(state);
    }
    if (!merged->finish(0.01, statistics)) return;
    earlier = std::move(merged);
  }
}

void measure(int32_t dtype, const Kind& kind, int threads) {
  const tmeter::DType type(dtype);
  const auto part = part_of(dtype, kind);
  const double start = processor_seconds();
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) pool.emplace_back([&] { run_tensor(type, part); });
  for (auto& t : pool) t.join();
  const double seconds = processor_seconds() - start;
  const double bytes = static_cast<double>(kPart) * kParts * threads;
  std::printf("%-9s %-7s %d thread(s): %6.2f GB per second and core, %.3f ns per byte\n",
              std::string(type.name()).c_str(), kind.name, threads, bytes / seconds / 1e9,
              seconds / bytes * 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  for (const int32_t dtype : {TMETER_DTYPE_BFLOAT16, TMETER_DTYPE_FLOAT32, TMETER_DTYPE_INT8,
                              TMETER_DTYPE_FLOAT64, TMETER_DTYPE_INT32, TMETER_DTYPE_INT64})
    for (const auto& kind : kKinds) measure(dtype, kind, threads);
}
