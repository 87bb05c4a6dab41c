/* kernel_without landlock|seccomp|both PROGRAM …: runs the program as on a kernel, or in a
 * container, that does not have them: their system calls fail with ENOSYS. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)

int main(int argc, char** argv) {
  const unsigned missing = SECCOMP_RET_ERRNO | ENOSYS;
  if (argc < 3) return 2;
  const int no_landlock = strcmp(argv[1], "seccomp") != 0,
            no_seccomp = strcmp(argv[1], "landlock") != 0;
  const unsigned for_landlock = no_landlock ? missing : SECCOMP_RET_ALLOW;
  const unsigned for_seccomp = no_seccomp ? missing : SECCOMP_RET_ALLOW;
  struct sock_filter filter[] = {
      LOAD(nr),
      UNLESS(444, 1), /* landlock_create_ruleset */
      ANSWER(for_landlock),
      UNLESS(SYS_seccomp, 1),
      ANSWER(for_seccomp),
      UNLESS(SYS_prctl, 3),
      LOAD(args[0]),
      UNLESS(PR_SET_SECCOMP, 1),
      ANSWER(for_seccomp),
      ANSWER(SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return 3;
  execv(argv[2], argv + 2);
  return 4;
}
