"""Tools by function calling, inside one request: the model's calls run and it is asked again."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from dovetail.agent.runtime import Runtime, tell, write_log
from dovetail.events.call import ChatMessage, ModelRequest, write_answer, write_result
from dovetail.events.delta import Delta, FinishDelta, ToolCallDelta, Usage
from dovetail.lazy import lazy
from dovetail.response.log import Entry
from dovetail.response.result import collect_calls
from dovetail.settings import Settings

if TYPE_CHECKING:
    from dovetail.tools.registry import ToolSnapshot

_scope = lazy("dovetail.tools.scope")

Send: TypeAlias = Callable[[ModelRequest], AsyncGenerator[Delta, None]]


@dataclass(frozen=True, slots=True)
class NativeTools:
    """The tools of one request; after `rounds` of calls the model must answer."""

    tools: "ToolSnapshot"
    runtime: Runtime
    settings: Settings
    rounds: int
    agent: str

    async def stream(
        self, request: ModelRequest, send: Send, result_data: dict[str, Any]
    ) -> AsyncGenerator[Entry, None]:
        """The deltas of all answers as one, with a `tool` event for each call."""
        usage = Usage()
        messages = list(request.messages)
        for left in range(self.rounds, -1, -1):
            turn = _Turn()
            async with aclosing(turn.read(send(self._ask(request, messages, left)))) as deltas:
                async for delta in deltas:
                    yield delta
            usage = usage + turn.finish.usage
            calls = collect_calls(turn.pieces)
            if not calls or not left:
                yield replace(turn.finish, usage=usage)
                return
            messages.append(write_answer(None, calls))
            for outcome in await self.runtime.runner.run_batch(
                self.tools, calls, _scope.CallScope(agent_path=(self.agent,), bus=self.runtime.active_bus)
            ):
                messages.append(write_result(outcome.call.call_id, outcome.result.llm_content))
                log = write_log(outcome)
                tell(log, result_data, self.runtime, self.settings)
                yield "tool", log

    def _ask(self, request: ModelRequest, messages: list[ChatMessage], left: int) -> ModelRequest:
        return replace(
            request,
            messages=tuple(messages),
            tools=self.tools.specs,
            tool_choice="auto" if left else "none",
        )


@dataclass(slots=True)
class _Turn:
    """One answer on its way: what is said goes on, the calls are kept."""

    pieces: list[ToolCallDelta] = field(default_factory=list[ToolCallDelta])
    finish: FinishDelta = field(default_factory=FinishDelta)

    async def read(self, deltas: AsyncGenerator[Delta, None]) -> AsyncGenerator[Delta, None]:
        async with aclosing(deltas):
            async for delta in deltas:
                if isinstance(delta, ToolCallDelta):
                    self.pieces.append(delta)
                elif isinstance(delta, FinishDelta):
                    self.finish = delta
                else:
                    yield delta
