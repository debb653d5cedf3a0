"""Runs a command and writes what was counted for it: status, wall and user seconds, peak memory.

A process of its own, because Linux carries the peak memory of the address space that a process
was started from over into the new program: started straight from a large Python process, a small
program would show the memory of its parent. This one imports as little as it can.

Usage: ``python -I -S measured.py FD COMMAND...``; FD is an open file descriptor for the answer.
"""

import os
import sys
import time


def main() -> None:
    """Runs the command of the command line and writes one line about it."""
    answer, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(answer, False)
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr)
            os._exit(127)
    _, status, usage = os.wait4(child, 0)
    wall_s = time.perf_counter() - start
    line = f"{os.waitstatus_to_exitcode(status)} {wall_s} {usage.ru_utime} {usage.ru_maxrss}"
    os.write(answer, line.encode())


if __name__ == "__main__":
    main()
