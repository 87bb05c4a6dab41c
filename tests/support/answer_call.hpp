// Answers a system call in place of the kernel: file systems and users that a test does not have.
#pragma once
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace tmeter::testing {

using CallArguments = std::array<uint64_t, 4>;
/// The result of the call, or minus an errno.
using CallAnswer = long (*)(const CallArguments&);

inline std::map<int, CallAnswer>& call_answers() {
  static std::map<int, CallAnswer> answers;
  return answers;
}

inline void give_answer(int, siginfo_t* info, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  const auto answer = call_answers().at(info->si_syscall);
#if defined(__x86_64__)
  auto* r = machine.gregs;
  const std::array<greg_t, 4> given{r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10]};
  auto& result = r[REG_RAX];
#elif defined(__aarch64__)
  auto* r = machine.regs;
  const std::array<uint64_t, 4> given{r[0], r[1], r[2], r[3]};
  auto& result = r[0];
#endif
  CallArguments arguments{};
  for (size_t i = 0; i < given.size(); ++i) arguments[i] = static_cast<uint64_t>(given[i]);
  result = static_cast<std::remove_reference_t<decltype(result)>>(answer(arguments));
}

/// From now on `answer` is called instead of `call` in this process, permanently. It must not make
/// the call itself. For use in a child (in_child.hpp).
inline void answer_call(long call, CallAnswer answer) {
  call_answers()[static_cast<int>(call)] = answer;
  struct sigaction action {};
  action.sa_sigaction = give_answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  EXPECT_EQ(sigaction(SIGSYS, &action, nullptr), 0);
  std::array<sock_filter, 4> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{filter.size(), filter.data()};
  EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

}  // namespace tmeter::testing
