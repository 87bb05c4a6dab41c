// The filter of system calls, which the kernel runs at each call of a worker. system_calls.hpp has
// the table of permitted calls. The filter is a BPF program. It looks numbers up in a binary tree,
// because the kernel tries every number when it loads a filter.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <map>
#include <vector>

#include "core/process/sandbox.hpp"
#include "core/process/system_calls.hpp"

namespace tmeter::core {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;  // system calls for this architecture have not been reviewed
#endif

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
/// The result of a kernel without the call: programs have a fallback for it.
constexpr uint32_t kUnknownCall = SECCOMP_RET_ERRNO | ENOSYS;
/// Opening a file for writing fails with EACCES, which programs understand, not with ENOSYS.
constexpr uint32_t kNoAccess = SECCOMP_RET_ERRNO | EACCES;

constexpr uint32_t kNumber = offsetof(seccomp_data, nr), kArch = offsetof(seccomp_data, arch);

/// Where the kernel keeps an argument, of eight bytes in the order of this machine.
uint32_t place_of(const ArgumentCondition& c) {
  constexpr uint32_t kUpper = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 4 : 0;
  const auto begin =
      static_cast<uint32_t>(offsetof(seccomp_data, args)) + static_cast<uint32_t>(c.argument) * 8;
  return begin + (c.upper_half ? kUpper : 4 - kUpper);
}

uint8_t rights_word(const Rights& r) {
  return static_cast<uint8_t>(
      (r.network ? kNetworkRight : 0) | (r.write ? kFilesRight : 0) |
      (r.processes ? kProcessesRight : 0) | (r.threads ? kThreadsRight : 0) |
      (r.inference ? kInferenceRight : 0) | (r.counters ? kCountersRight : 0) |
      (r.devices.empty() ? 0 : kDevicesRight));
}

/// Permitted calls with the numbers `first` to `last`: with any arguments if `rows` is empty, else
/// with those of one row.
struct Permitted {
  int first, last;
  std::vector<std::span<const ArgumentCondition>> rows;
};

/// In the order of their numbers.
std::vector<Permitted> permitted_calls(const Rights& rights) {
  const auto own = rights_word(rights);
  const auto given = [&](uint8_t needed) { return needed == kEveryProcess || (needed & own) != 0; };
  std::vector<int> unchecked;
  for (const auto& group : kPermittedCalls) {
    if (!given(group.rights)) continue;
    std::copy_if(group.calls.begin(), group.calls.end(), std::back_inserter(unchecked),
                 [](int call) { return call >= 0; });
  }
  std::sort(unchecked.begin(), unchecked.end());
  std::vector<Permitted> out;
  for (const int call : unchecked) {
    if (!out.empty() && call <= out.back().last + 1) {
      out.back().last = call;
    } else {
      out.push_back({call, call, {}});
    }
  }
  std::map<int, Permitted> checked;
  for (const auto& row : kCheckedCalls) {
    if (row.call < 0 || !given(row.rights)) continue;
    if (std::binary_search(unchecked.begin(), unchecked.end(), row.call)) continue;
    auto& of_call = checked.try_emplace(row.call, Permitted{row.call, row.call, {}}).first->second;
    of_call.rows.push_back(row.conditions);
  }
  for (auto& [call, permitted] : checked) out.push_back(std::move(permitted));
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

class Program {
 public:
  explicit Program(const std::vector<Permitted>& calls) : calls_(calls) {
    add(BPF_LD | BPF_W | BPF_ABS, kArch);
    add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    add(BPF_RET | BPF_K, kUnknownCall);
    add(BPF_LD | BPF_W | BPF_ABS, kNumber);
    add(BPF_JMP | BPF_JGE | BPF_K, static_cast<uint32_t>(calls.front().first), 1, 0);
    add(BPF_RET | BPF_K, kUnknownCall);
    look_up(0, calls.size());
  }
  const std::vector<sock_filter>& code() const { return code_; }

 private:
  void add(int code, uint32_t value, size_t if_true = 0, size_t if_false = 0) {
    code_.push_back({static_cast<uint16_t>(code), static_cast<uint8_t>(if_true),
                     static_cast<uint8_t>(if_false), value});
  }

  /// The number is loaded and at least the first of these calls: finds it among them, or rejects
  /// it.
  void look_up(size_t begin, size_t end) {
    if (end - begin == 1) return answer(calls_[begin]);
    const auto middle = begin + (end - begin) / 2;
    add(BPF_JMP | BPF_JGE | BPF_K, static_cast<uint32_t>(calls_[middle].first), 0, 1);
    const auto jump = code_.size();
    add(BPF_JMP | BPF_JA, 0);
    look_up(begin, middle);
    code_[jump].k = static_cast<uint32_t>(code_.size() - jump - 1);
    look_up(middle, end);
  }

  void answer(const Permitted& calls) {
    add(BPF_JMP | BPF_JGT | BPF_K, static_cast<uint32_t>(calls.last), 0, 1);
    add(BPF_RET | BPF_K, kUnknownCall);
    for (const auto& row : calls.rows) check(row);
    if (calls.rows.empty()) return add(BPF_RET | BPF_K, kAllow);
    const bool opens = calls.first == SYS_open || calls.first == SYS_openat;
    add(BPF_RET | BPF_K, opens ? kNoAccess : kUnknownCall);
  }

  /// Allows the call if all conditions hold, else continues after this code.
  void check(std::span<const ArgumentCondition> row) {
    std::vector<size_t> to_end;
    for (const auto& c : row) {
      add(BPF_LD | BPF_W | BPF_ABS, place_of(c));
      if (c.mask != ~uint32_t{0}) add(BPF_ALU | BPF_AND | BPF_K, c.mask);
      for (size_t i = 0; i < c.values.size(); ++i) {
        const auto value =
            c.values[i] == kThisProcess ? static_cast<uint32_t>(getpid()) : c.values[i];
        add(BPF_JMP | BPF_JEQ | BPF_K, value, c.values.size() - i, 0);
      }
      to_end.push_back(code_.size());
      add(BPF_JMP | BPF_JA, 0);
    }
    add(BPF_RET | BPF_K, kAllow);
    for (const auto at : to_end) code_[at].k = static_cast<uint32_t>(code_.size() - at - 1);
  }

  const std::vector<Permitted>& calls_;
  std::vector<sock_filter> code_;
};

bool load(const std::vector<sock_filter>& code) {
  const sock_fprog program{static_cast<unsigned short>(code.size()),
                           const_cast<sock_filter*>(code.data())};
  return kArchitecture != 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

}  // namespace

std::string limit_system_calls(const Rights& rights) {
  if (!load(Program(permitted_calls(rights)).code()))
    return "system calls are not limited (no seccomp here)";
  std::string words;
  if (!rights.network) words += "no network, ";
  if (!rights.processes) words += "no other programs or processes, ";
  if (!rights.write) words += "no writing of files, ";
  return words + "no change of the system (seccomp)";
}

}  // namespace tmeter::core
