"""Calls that a model makes again and again: the same ones turn after turn, or a few turns in a circle."""

from collections.abc import Sequence
from dataclasses import dataclass

from dovetail.data.text import cut, to_text
from dovetail.events.call import ToolCall

WARNED_AFTER = 3
"""Times in a row after which the model reads that it repeats itself."""
REPEATS = 5
"""Times in a row that the same calls may be made, or that words may come instead of a result."""
LONGEST_CIRCLE = 4
"""The most turns of a circle that is recognized."""

WARNING = "You have made the same calls"
"""How the message to a model that repeats itself begins."""
_LONGEST_CALL = 80
_MOST_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Repetition:
    """Turns that have been repeated: what their calls were, and how often."""

    calls: Sequence[ToolCall]
    times: int
    is_complete: bool
    """Whether the last circle is complete."""

    def describe(self) -> str:
        """Return the calls in words."""
        shown = [
            f"{call.name}({cut(to_text(call.shown_arguments), _LONGEST_CALL)})"
            for call in self.calls[:_MOST_SHOWN]
        ]
        return ", ".join([*shown, *(["…"] if len(self.calls) > _MOST_SHOWN else [])])

    def warn(self) -> str:
        """Return the message to the model."""
        return (
            f"{WARNING} {self.times} times: {self.describe()}. The results will not change. "
            "Use what you know, try something else, or answer."
        )

    def write_notice(self) -> str:
        """Return why the run was ended."""
        return (
            f"The model made the same calls {self.times} times in a row and was stopped: {self.describe()}."
        )


class CallHistory:
    """The calls of the last turns of a run."""

    def __init__(self) -> None:
        self._turns: list[list[ToolCall]] = []
        self._keys: list[list[tuple[str, str]]] = []

    def add(self, calls: Sequence[ToolCall]) -> None:
        """Add the calls of a turn."""
        self._turns.append([*calls])
        self._keys.append([(call.name, to_text(call.shown_arguments)) for call in calls])
        kept = LONGEST_CIRCLE * (REPEATS + 1)
        del self._turns[:-kept], self._keys[:-kept]

    def clear(self) -> None:
        """Forget all calls."""
        self._turns.clear()
        self._keys.clear()

    def find_repetition(self) -> Repetition | None:
        """Return what the last turns repeat most often; the shortest circle, if there are several."""
        found = [self._measure(length) for length in range(1, LONGEST_CIRCLE + 1)]
        return max((each for each in found if each is not None), key=lambda each: each.times, default=None)

    def _measure(self, length: int) -> Repetition | None:
        """Return how often the last turns have been a circle of this length, if more than once."""
        keys, same = self._keys, 0
        while same + length < len(keys) and keys[-1 - same] == keys[-1 - same - length]:
            same += 1
        times = (same + length) // length
        calls = [call for turn in self._turns[-length:] for call in turn]
        return Repetition(calls, times, same % length == 0) if times > 1 else None
