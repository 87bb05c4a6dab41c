/* tracer PROGRAM …: runs the program and its children under ptrace, as a debugger does, and passes
 * every signal on; exits with the program's exit status. */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const pid_t program = fork();
  int status = 0;
  if (argc < 2) return 2;
  if (program == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(argv[1], argv + 1);
    _exit(4);
  }
  waitpid(program, &status, 0);
  ptrace(PTRACE_SETOPTIONS, program, 0, PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE);
  ptrace(PTRACE_CONT, program, 0, 0);
  for (pid_t who; (who = waitpid(-1, &status, __WALL)) > 0;) {
    if (WIFEXITED(status) && who == program) return WEXITSTATUS(status);
    if (!WIFSTOPPED(status)) continue;
    const int stop = WSTOPSIG(status);
    ptrace(PTRACE_CONT, who, 0, stop == SIGTRAP || stop == SIGSTOP ? 0 : stop);
  }
  return 3;
}
