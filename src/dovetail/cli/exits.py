"""The exit codes of `dovetail`, the same for all commands (docs/terminal.md lists them)."""

from dovetail.events.run_events import EndReason

OK = 0
FAILED = 1
USAGE = 2
"""Wrong options or arguments; `click` exits with it."""
UNANSWERED = 3
"""The work ended, but a call needed an approval or an answer, and no one was there to give it."""
INTERRUPTED = 130


def find_exit(reason: EndReason, *, unanswered: int = 0) -> int:
    """Return the exit code for the end of a run."""
    if reason == "cancelled":
        return INTERRUPTED
    if reason != "goal":
        return FAILED
    return UNANSWERED if unanswered else OK
