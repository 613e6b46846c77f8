"""The requester for embedded models: a model in this process, without key or network."""

import logging
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta
from dovetail.requesters.local.answer import LocalAnswer
from dovetail.requesters.local.llama import CONTEXT, Engine, release_engine, share_engine
from dovetail.requesters.local.messages import KNOWLEDGE, TALK
from dovetail.requesters.local.weights import find_entry

logger = logging.getLogger(__name__)


class LocalRequester:
    """A model from a weights file; requesters of the same file share one engine and its queue."""

    follows_schema = True
    calls_tools = True
    context_tokens = CONTEXT
    answer_ways = (KNOWLEDGE, TALK)
    """Ways to answer, by name and use: a small model chooses better among them than between tool and none."""

    def __init__(self, weights: Path, model: str) -> None:
        self.weights = weights
        self.model = model
        self._entry = find_entry(weights)
        self._engine: Engine | None = None

    def __repr__(self) -> str:
        return f"LocalRequester({str(self.weights)!r}, {self.model!r})"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas: with tools the choice of one first, then a call or the text."""
        if self._engine is None:
            self._engine = share_engine(self.weights)
        engine = self._engine
        fitted = self._fit(request)
        answer = LocalAnswer(engine, self.model, fitted, await engine.queue.take())
        try:
            async for delta in answer.stream():
                yield delta
        finally:
            answer.close()

    def _fit(self, request: ModelRequest) -> ModelRequest:
        """Return the request with this model's defaults where the caller set none."""
        entry = self._entry
        if entry is None:
            return request
        if request.tools and request.tool_choice == "auto" and not entry.chooses_tools:
            logger.info("%s is too small to choose tools reliably; answering without tools", self.model)
            request = replace(request, tools=())
        if request.schema is None:
            request = replace(request, options={**entry.sampling, **request.options})
        if any(message["role"] in ("system", "developer") for message in request.messages):
            return request
        introduction = {"role": "system", "content": entry.introduction}
        return replace(request, messages=[introduction, *request.messages])

    async def close(self) -> None:
        """Free the memory, unless another requester uses the same weights."""
        engine, self._engine = self._engine, None
        if engine is not None:
            release_engine(engine)
