"""Run one program and end all processes that it started; a script that `process.py` starts.

Orphaned processes are adopted by this one, so that even a daemon that left its session and cleared its
environment is found. SIGTERM asks the program to end, SIGUSR1 ends everything at once. The result is written
to the file descriptor that the first argument names: `exit <code>`, or `error <number>` if the program could
not be started.
"""

import ctypes
import errno
import os
import signal
import sys
import time
from collections.abc import Iterable

PR_SET_CHILD_SUBREAPER = 36
WATCHED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1)
SWEEPS = 100
PAUSE = 0.01


def main(target: int, grace: float, arguments: list[str]) -> None:
    """Run the program to its end, or until a signal stops it."""
    os.set_inheritable(target, False)
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    _adopt_orphans()
    program, problem = _start(arguments, usual)
    code = None if problem else _wait(program, grace)
    _end_all(program)
    os.write(target, f"error {problem}".encode() if problem else f"exit {code}".encode())


def _adopt_orphans() -> None:
    try:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):  # not Linux
        return


def _start(arguments: list[str], usual: Iterable[int]) -> tuple[int, int]:
    """Start the program in a session of its own; return its process id and the error number, if any."""
    reader, writer = os.pipe()
    program = os.fork()
    if program == 0:
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, usual)
            os.execvp(arguments[0], arguments)
        except OSError as error:
            os.write(writer, str(error.errno).encode())
        except ValueError:
            os.write(writer, str(errno.EINVAL).encode())
        finally:
            os._exit(127)
    os.close(writer)
    return program, int(os.read(reader, 16) or 0)


def _wait(program: int, grace: float) -> int | None:
    """Return the exit code; None if a signal stopped the program."""
    deadline: float | None = None
    while True:
        if deadline is None:
            number = signal.sigwait(WATCHED)
        else:
            found = signal.sigtimedwait(WATCHED, max(deadline - time.monotonic(), 0.0))
            number = found.si_signo if found else signal.SIGUSR1
        if number == signal.SIGUSR1:
            return None
        if number == signal.SIGTERM:
            _signal_group(program, signal.SIGTERM)
            deadline = time.monotonic() + grace
        elif (code := _reap(program)) is not None:
            return code


def _reap(program: int) -> int | None:
    """Reap all children that have ended; return the exit code of the program if it is among them."""
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if pid == 0:
            return code
        if pid == program:
            code = os.waitstatus_to_exitcode(status)


def _end_all(program: int) -> None:
    _signal_group(program, signal.SIGKILL)
    for _ in range(SWEEPS):
        _reap(program)
        if not (left := _find_descendants()):
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        time.sleep(PAUSE)


def _signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _find_descendants() -> list[int]:
    """Return all descendants of this process; empty if the system has no /proc."""
    children: dict[int, list[int]] = {}
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for name in names:
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:  # it has ended
            continue
        children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
