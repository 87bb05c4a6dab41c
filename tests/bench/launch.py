"""Runs one command and prints its seconds, peak KiB and processor seconds: ``python3 -I -S launch.py COMMAND...``

It is a separate, small process, because Linux keeps the peak memory from before ``exec``: a command seems to need at
least the memory of its forked parent. Here that is 5 MB; forked from a large interpreter it would be more than tmeter's
own peak. The command's standard output goes to the file in the environment variable LAUNCH_OUTPUT.
"""

import os
import sys
import time

command = sys.argv[1:]
output = os.open(os.environ["LAUNCH_OUTPUT"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
nowhere = os.open(os.devnull, os.O_WRONLY)

start = time.perf_counter()
pid = os.fork()
if pid == 0:
    try:
        os.dup2(output, 1)
        os.dup2(nowhere, 2)
        os.execv(command[0], command)
    finally:
        os._exit(127)
_, status, usage = os.wait4(pid, 0)
seconds = time.perf_counter() - start

print(seconds, usage.ru_maxrss, usage.ru_utime + usage.ru_stime)
sys.exit(os.waitstatus_to_exitcode(status) != 0)
