"""What a run must return: an instance of a type, the data of an output, or any text."""

import dataclasses
from typing import Any, Generic, TypeVar

from dovetail.agent.expectation import TypedOutput, expect_output
from dovetail.agent.request import AgentRequest
from dovetail.data.text import report_error, shorten, to_text
from dovetail.errors import CancelledRunError, DovetailError, ResponseError
from dovetail.events.delta import FinishDelta, TextDelta
from dovetail.events.run_result import RunResult
from dovetail.loop.completion import (
    COMPLETE_TASK,
    AnswerRule,
    Rejection,
    make_completion_tool,
    write_as_answer,
)
from dovetail.response.result import Result
from dovetail.settings.sections import ResponseSettings
from dovetail.tools.snapshot import ToolSnapshot

T = TypeVar("T")

_REFUSED = "the model refused to answer"


class RunGoal(Generic[T]):
    """What one run must return, how its model hands that in, and what becomes of an answer that is not it.

    With tools, an instance is handed in with the tool `complete_task`, as the results of agents in files are;
    an answer in words that has it counts as well. Without tools the answer is nothing but the data.
    """

    def __init__(self, request: AgentRequest, tools: ToolSnapshot, typed: TypedOutput[T] | None) -> None:
        follows_schema = request.requester.follows_schema and not len(tools)
        if typed is None:
            expected = expect_output(request.prompt, request.settings, with_schema=follows_schema)
        else:
            expected = typed.expect(request.settings, with_schema=follows_schema)
        self.schema = expected.schema
        self._format = expected.format
        self._typed = typed
        self.is_typed = typed is not None
        """Whether the result is an instance, and anything else a failure."""
        self._model = request.requester.model
        self._handed_in: list[T] = []
        self._attempts = 0
        is_handed_in = typed is not None and bool(len(tools)) and not self._format.is_text
        self.completion = COMPLETE_TASK if is_handed_in else None
        self.tools = self._add_completion(tools, typed) if is_handed_in and typed else tools
        retries = request.settings.section(ResponseSettings).max_retries
        self.rule = None if typed is None and self._format.is_text else AnswerRule(self._check, retries)

    async def read(self, outcome: RunResult) -> Result[T]:
        """Return the answer of a run as the result of a request, which the handlers of an agent know."""
        text = to_text(self.show(self._handed_in[0])) if self._handed_in else outcome.text
        cut = "" if outcome.limit else outcome.notice or ""
        reason = outcome.finish_reason or "stop"
        return await self._read(text, FinishDelta(reason, outcome.usage, self._model, notice=cut))

    def conclude(self, outcome: RunResult, result: Result[T]) -> RunResult[T]:
        """Return the outcome with the data that was asked for, or with the reason why it has none."""
        if self._handed_in:
            messages = write_as_answer(outcome.messages, result.text)
            return dataclasses.replace(
                outcome, text=result.text, data=self._handed_in[0], messages=messages, finish_reason="stop"
            )
        ended = outcome.reason == "goal"
        problem = self._find_problem(result) if ended and self.rule is not None else None
        if self._typed is not None:
            if ended and problem is None:
                return dataclasses.replace(outcome, data=result.object)
            return self._fail(outcome, result, problem)
        data = outcome.data if result.parsed is None else result.parsed
        notice = outcome.notice or (str(result.reject(problem)) if problem else None)
        return dataclasses.replace(outcome, data=data, notice=notice)

    def show(self, data: Any) -> Any:
        """Return the data as JSON data, for events and for models."""
        return data if self._typed is None or data is None else self._typed.dump(data)

    def _add_completion(self, tools: ToolSnapshot, typed: TypedOutput[T]) -> ToolSnapshot:
        def check(value: Any) -> None:
            self._handed_in.append(typed.build(value))

        completion = make_completion_tool(typed.write_schema(), check=check)
        return ToolSnapshot.of([*tools, completion], tools.generation)

    async def _read(self, text: str, finish: FinishDelta) -> Result[T]:
        result = Result([TextDelta(text), finish], self._format, attempt=max(self._attempts, 1))
        return await result.read_ahead()

    async def _check(self, text: str, finish_reason: str) -> Rejection | None:
        self._attempts += 1
        result = await self._read(text, FinishDelta(finish_reason))
        problem = self._find_problem(result)
        is_final = result.is_too_long or finish_reason == "content-filter"
        return None if problem is None else Rejection(problem, is_final)

    def _find_problem(self, result: Result[T]) -> str | None:
        if result.finish is not None and result.finish.reason == "content-filter":
            return _REFUSED
        return result.find_problem(check=True)

    def _fail(self, outcome: RunResult, result: Result[T], problem: str | None) -> RunResult[T]:
        """Return the end of a run that has no instance; whoever asked for one gets the error."""
        if outcome.exception is not None:
            return outcome
        if outcome.reason == "cancelled":
            error: DovetailError = CancelledRunError("The run was cancelled before it had its result.")
        elif problem is not None:
            error = result.reject(problem)
        else:
            why = outcome.notice or (shorten(outcome.text) if outcome.text.strip() else "it said nothing")
            error = ResponseError(f"The run ended by {outcome.reason} without a result: {why}")
        reason = "no-completion" if outcome.reason == "goal" else outcome.reason
        return dataclasses.replace(
            outcome,
            reason=reason,
            notice=outcome.notice or problem,
            error=report_error(error),
            exception=error,
        )
