// fuzz NAME SECONDS FILES…: runs the files, then mutations of them from a fixed seed until the time
// is over. An input that ends the process is kept as ./NAME.crash; `fuzz NAME 0 NAME.crash` runs it
// again.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/targets.hpp"
#include "tests/support/in_child.hpp"

namespace {

constexpr unsigned kMaxSeconds = 20;  // for one input
constexpr rlim_t kMaxMemory = rlim_t{3} << 30;
constexpr size_t kMaxBytes = 1 << 16;

std::string current;
std::string kept_as;

/// Only async-signal-safe calls.
void keep_input(int number) {
  const int fd = open(kept_as.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || write(fd, current.data(), current.size()) < 0) _exit(3);
  signal(number, SIG_DFL);
  raise(number);
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> corpus) : corpus_(std::move(corpus)) {}

  std::string next() {
    std::string out = any();
    for (size_t n = 1 + below(4); n > 0; --n) change(out);
    out.resize(std::min(out.size(), kMaxBytes));
    return out;
  }

 private:
  size_t below(size_t n) {
    return n ? std::uniform_int_distribution<size_t>(0, n - 1)(random_) : 0;
  }
  const std::string& any() { return corpus_[below(corpus_.size())]; }

  void change(std::string& text) {
    constexpr std::array<std::string_view, 8> kTokens{
        "-1",       "9223372036854775807", "18446744073709551616", "1e999", "\"", "[[[[[[[[",
        "\0\0\0\0", "\xff\xff\xff\xff"};
    const size_t at = below(text.size() + 1),
                 length = below(std::min<size_t>(text.size() - at, 16) + 1);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(at, kTokens[below(kTokens.size())]);
        break;
      case 4: {
        const auto& other = any();
        const size_t from = below(other.size() + 1);
        text.replace(at, length, other.substr(from, below(64)));
        break;
      }
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
    }
  }

  std::vector<std::string> corpus_;
  std::mt19937_64 random_{20261122};
};

void run(const tmeter::fuzz::Target& target, std::string input) {
  current = std::move(input);
  alarm(kMaxSeconds);
  tmeter::fuzz::run(target, current);
  alarm(0);
}

}  // namespace

int main(int argc, char** argv) {
  const auto* target = argc > 2 ? tmeter::fuzz::find_target(argv[1]) : nullptr;
  if (!target) return std::fputs("fuzz NAME SECONDS FILES…\n", stderr), 2;
  kept_as = std::string(target->name) + ".crash";
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) signal(s, keep_input);
  const rlimit memory{kMaxMemory, kMaxMemory};
  if (tmeter::testing::kMemoryIsLimited) setrlimit(RLIMIT_DATA, &memory);
  std::vector<std::string> corpus{""};
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    run(*target, corpus.back());
  }
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(std::atof(argv[2])));
  Mutator mutator(corpus);
  size_t runs = corpus.size();
  for (; Clock::now() < until; ++runs) run(*target, mutator.next());
  std::printf("%s: %zu inputs\n", target->name, runs);
}
