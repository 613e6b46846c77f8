"""The asks that the calls of a run stored before a restart, and find again when they ask the same.

Promises: each ask is found once, in the order in which the call asked, and only by an equal question: an
answer never counts for another one. A run that was not interrupted finds none, however often a call asks.
"""

import json
from collections.abc import Awaitable, Callable, Collection
from typing import TypeAlias

from dovetail.data.clean import clean_data
from dovetail.policy.rule import to_canonical_json
from dovetail.runs.ask_store import AskRecord

_Call: TypeAlias = tuple[tuple[str, ...], str]


class EarlierAsks:
    """The earlier asks of one run that its calls have not found yet; `load` returns those of a call."""

    def __init__(self, load: Callable[[AskRecord], Awaitable[list[AskRecord]]]) -> None:
        self._load = load
        self._left: dict[_Call, list[AskRecord]] = {}

    async def take(self, ask: AskRecord, unstable: Collection[str] = ()) -> AskRecord | None:
        """Return the first earlier ask that asks the same, if any; `unstable` keys may differ."""
        call = _find_call(ask)
        if call not in self._left:
            loaded = await self._load(ask)
            self._left.setdefault(call, loaded)  # another question of the call may have been faster
        if not (left := self._left[call]):
            return None
        wanted = _identify(ask, unstable)
        found = next((each for each in left if _identify(each, unstable) == wanted), None)
        if found is not None:
            left.remove(found)
        return found

    def drop_open(self, ask: AskRecord) -> list[AskRecord]:
        """Forget and return the open asks of a call that asks something else."""
        left = self._left[_find_call(ask)]
        dropped = [each for each in left if each.state == "open"]
        left[:] = [each for each in left if each.state != "open"]
        return dropped

    def put_back(self, ask: AskRecord) -> None:
        """Take an ask back whose answer did not reach its call."""
        self._left[_find_call(ask)].insert(0, ask)


def _find_call(ask: AskRecord) -> _Call:
    return ask.path, ask.call_id


def _identify(ask: AskRecord, unstable: Collection[str]) -> tuple[str, str]:
    """Return what makes a question the same one, as it is stored."""
    stable = {name: value for name, value in ask.payload.items() if name not in unstable}
    return ask.kind, to_canonical_json(json.loads(json.dumps(clean_data(stable))))
