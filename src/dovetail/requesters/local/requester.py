"""The requester for embedded models: a model in this process, without key or network."""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail.errors import ModelError
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.events.delta import Delta, ProgressDelta
from dovetail.requesters.clock import waiting
from dovetail.requesters.configured import configure
from dovetail.requesters.lengths import merge_options
from dovetail.requesters.local.answer import LocalAnswer, list_beginnings
from dovetail.requesters.local.arrival import NAMED_PLACEHOLDERS, PLACEHOLDERS, arrive
from dovetail.requesters.local.choice import KNOWLEDGE, TALK
from dovetail.requesters.local.download import find_shortage
from dovetail.requesters.local.files import locate, read_model
from dovetail.requesters.local.fit import find_need
from dovetail.requesters.local.grounding import drop_invented
from dovetail.requesters.local.llama import Engine, release_engine, share_engine
from dovetail.requesters.local.messages import introduce
from dovetail.requesters.local.weights import LONGEST_ANSWER, STAND_IN, find, find_entry, get_weights
from dovetail.requesters.options import OPENAI_ONLY, translate_options
from dovetail.requesters.prices import FREE
from dovetail.requesters.thinking import settle_thinking, warn_ignored
from dovetail.requesters.warn import warn_of_tools, warn_once
from dovetail.settings.model import ModelSettings

logger = logging.getLogger(__name__)

_EFFORT = {"reasoning", "reasoning_effort"}
"""OpenAI's names for how long a model thinks."""

INTRODUCTION = "You are a helpful assistant."
"""The system text of a model outside the catalogue if a request has none."""


def make_requester(
    model: str, options: ModelSettings, owner: str = "", *, can_stand_in: bool = False
) -> "LocalRequester":
    """Return the requester of `local:<model>`: a name or the path of a file.

    With `can_stand_in` the model was not named, and the small one may answer if it cannot be downloaded. That
    one's answers are placeholders, which is said once.
    """
    if model == STAND_IN:
        warn_once(PLACEHOLDERS if can_stand_in else NAMED_PLACEHOLDERS)
    name = f"local:{model}"
    chosen = configure("local", options, owner).options
    weights = locate(model, options.folders, later=options.download)
    requester = LocalRequester(weights, name, options.find_window(name), chosen.thinking)
    requester.options = chosen.options
    requester.can_stand_in = can_stand_in
    return requester


class LocalRequester:
    """A model from a weights file; requesters of the same file share one engine and its queue.

    A file outside the catalogue is described by its own header. `context` is the wanted context window.
    """

    follows_schema = True
    calls_tools = True
    price = FREE
    can_stand_in = False
    """Whether the small model answers if this one cannot be downloaded."""

    answer_ways = (KNOWLEDGE, TALK)
    """Ways to answer, by name and use: a small model chooses better among them than between tool and none."""
    rare_tools = frozenset(
        {
            "ask_user",
            "background_tasks",
            "codebase_investigator",
            "read_artifact",
            "summarizer",
            "write_todos",
        }
    )
    """Shipped tools that a small model mostly calls wrongly; only agents that name their tools have them."""

    def __init__(
        self,
        weights: Path,
        model: str,
        context: int | None = None,
        thinking: str | int | None = None,
    ) -> None:
        self.options: Mapping[str, Any] = {}
        """The options of every request."""
        self._thinking = thinking
        self._engine: Engine | None = None
        self._use(weights, model, context)

    def _use(self, weights: Path, model: str, context: int | None) -> None:
        self.weights = weights
        self.model = model
        entry = find_entry(weights)
        if entry is not None:
            self.context_tokens = entry.choose_context(context)
            self._introduction, self._sampling = entry.introduction, entry.sampling
            self._longest = entry.longest
            self._origin = entry.origin
            self.chooses_tools = entry.chooses_tools
        else:
            file = read_model(weights)
            self.context_tokens = file.choose_context(context)
            self._introduction, self._sampling = INTRODUCTION, file.sampling
            self._longest = LONGEST_ANSWER
            self._origin = ""
            self.chooses_tools = file.chooses_tools

    def __repr__(self) -> str:
        return f"LocalRequester({str(self.weights)!r}, {self.model!r})"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas: with tools the choice of one first, then a call or the text."""
        async with aclosing(self._arrive()) as arriving:
            async for progress in arriving:
                yield progress
        answer = await self._open(self._fit(request))
        try:
            async for delta in answer.stream():
                yield delta
        finally:
            answer.close()

    async def check_call(
        self, question: str, tool: ToolSpec, arguments: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Return the arguments without those made up, or None if the tool does not do what is asked."""
        answer = await self._open(ModelRequest(messages=[]))
        try:
            fits = await answer.weigh(question, tool) >= find_need(question, tool)
        finally:
            answer.close()
        return drop_invented(arguments, tool, question) if fits else None

    async def warm_up(self, request: ModelRequest) -> None:
        """Read what is the same in every chat, in turns: a chat that begins in the meantime comes next.

        Weights that are not there yet are left to the first request.
        """
        if not self.weights.exists():
            return
        request = self._fit(request)
        for slot, texts in list_beginnings(request, has_choice=self.chooses_tools):
            answer = await self._open(request)
            try:
                await answer.read_ahead(slot, texts)
            finally:
                answer.close()

    async def _open(self, request: ModelRequest) -> LocalAnswer:
        """Wait for the turn, and return the answer that uses it."""
        async with aclosing(self._arrive()) as arriving:
            async for _ in arriving:
                """Whoever asks this way does not show how far the model is."""
        if self._engine is None:  # another request may have been faster
            self._engine = share_engine(self.weights, self.context_tokens)
        engine = self._engine
        with waiting():
            ticket = await engine.queue.take()
        return LocalAnswer(engine, self.model, request, ticket)

    async def _arrive(self) -> AsyncGenerator[Delta, None]:
        """Download the weights if they are not there yet, and yield how far that is."""
        entry = None if self._engine else find_entry(self.weights)
        if entry is None or self.weights.exists():
            return
        try:
            async with aclosing(arrive(entry)) as steps:
                async for step in steps:
                    yield ProgressDelta("download", step.done, step.total)
        except ModelError as error:
            stand_in = find(STAND_IN) if self.can_stand_in else None
            if stand_in is None or find_shortage(entry.name):
                raise
            warn_once(f"{error.message} {error.hint}".replace("\n", " "))
            warn_once(PLACEHOLDERS)
            self._use(stand_in, get_weights(STAND_IN).model, self.context_tokens)

    def _fit(self, request: ModelRequest) -> ModelRequest:
        """Return the request with this model's defaults where the caller set none."""
        request = replace(request, options=merge_options(self.options, request.options))
        translated = translate_options(request, known=OPENAI_ONLY - _EFFORT)
        request = settle_thinking(translated, self._thinking)
        if request.thinking not in (None, "off"):
            warn_ignored(self.model)
        if request.tools and request.tool_choice == "auto" and not self.chooses_tools:
            warn_of_tools(self.model)
            request = replace(request, tools=())
        options = {**(self._sampling if request.schema is None else {}), **request.options}
        if "max_completion_tokens" not in options:
            options.setdefault("max_tokens", self._longest)
        request = replace(request, options=options)
        return replace(request, messages=introduce(request.messages, self._introduction, self._origin))

    async def close(self) -> None:
        """Free the memory, unless another requester uses the same weights."""
        engine, self._engine = self._engine, None
        if engine is not None:
            release_engine(engine)
