"""How the model of a loop uses tools: the one part of the loop that differs between its users."""

from collections.abc import Sequence

from dovetail.errors import ModelError
from dovetail.events.call import ModelRequest
from dovetail.loop.judged import stream_judged
from dovetail.loop.turn import Turn
from dovetail.requesters.requester import Requester
from dovetail.tools.tool import CallOutcome


class ToolStrategy:
    """The usual strategy: the model calls functions; one that cannot is asked in words.

    Strategies of requests (`agent.start`) override both methods.
    """

    async def read_turn(self, turn: Turn, requester: Requester, request: ModelRequest) -> None:
        """Ask the model and read its answer into `turn`."""
        if requester.calls_tools:
            try:
                return await turn.read_answer(requester.model, requester.stream(request))
            except ModelError:  # a requester notices only now that its model cannot call functions
                if requester.calls_tools or turn.text:
                    raise
        await turn.read_answer(requester.model, stream_judged(requester, request))

    async def take_outcomes(self, outcomes: Sequence[CallOutcome]) -> None:
        """Take what the calls of a turn returned; the conversation has it already."""
