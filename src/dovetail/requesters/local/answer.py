"""One answer of an embedded model: with tools a choice first, then a call or text."""

import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence, Set
from math import inf
from typing import Any

from dovetail.errors import ContextLengthError, ModelError
from dovetail.events.call import ChatMessage, ModelRequest, ToolSpec
from dovetail.events.delta import Delta, FinishDelta, TextDelta, ToolCallDelta, Usage
from dovetail.ids import new_id
from dovetail.requesters.local.closed_schema import PLAIN_TEXT, build_grammar, close_schema
from dovetail.requesters.local.fit import (
    EXAMPLE,
    LIBRARY_NEEDS,
    SCORES,
    SURE,
    Token,
    build_about_texts,
    build_fit_texts,
    find_need,
    find_question,
    is_library,
    rank_tools,
    read_odds,
    read_tokens,
)
from dovetail.requesters.local.grounding import drop_invented_text, join_said, may_invent
from dovetail.requesters.local.llama import Engine, Generation, Piece, Ticket
from dovetail.requesters.local.messages import (
    ChoiceReader,
    TextMessage,
    begin_answer,
    build_choice_schema,
    build_name_schema,
    build_texts,
    choose_ways,
)
from dovetail.requesters.openai.format import read_usage

logger = logging.getLogger(__name__)

LONGEST_CHOICE = 1024
LONGEST_NAME = 64
EXACT = {"temperature": 0.0}


class LocalAnswer:
    """One answer; it keeps its turn in the queue until its last generation has ended."""

    def __init__(self, engine: Engine, model: str, request: ModelRequest, ticket: Ticket) -> None:
        self._engine = engine
        self._model = model
        self._request = request
        self._ticket = ticket
        self._generation: Generation | None = None
        self._is_idle = True
        self._is_closed = False
        self._usage = Usage(cost=0.0)
        self._last: Piece = {}
        self._reason: str = "stop"
        self._tokens: list[Token] = []

    async def stream(self) -> AsyncGenerator[Delta, None]:
        """Yield the deltas, the finish last."""
        request = self._request
        texts = build_texts(request.messages, request.tools, self._model)
        if request.tools and request.tool_choice != "none":
            async for delta in self._choose(texts):
                yield delta
        if self._reason != "tool-calls":
            if request.tools:
                texts = begin_answer(texts, request.messages, request.tools)
            async for text in self._write(texts):
                yield TextDelta(text)
        yield self._finish()

    def close(self) -> None:
        """Stop the generation; the turn passes on when it has stopped."""
        self._is_closed = True
        if self._generation is not None:
            self._generation.cancel()
        if self._is_idle:
            self._ticket.leave()

    async def _choose(self, texts: Sequence[TextMessage]) -> AsyncGenerator[ToolCallDelta, None]:
        """Yield the call while it is written; nothing if the model chose to answer."""
        request = self._request
        must_call = request.tool_choice == "required"
        earlier = set[tuple[str, str]]() if must_call else find_calls_since_user(request.messages)
        ways = [] if must_call else choose_ways(request.tools, has_result=bool(earlier))
        tools: Sequence[ToolSpec] = request.tools
        if ways and not earlier:
            tools, ways = await self._find_tool(texts, ways), []
        if tools:
            async for delta in self._call(texts, tools, ways, earlier):
                yield delta

    async def _call(
        self,
        texts: Sequence[TextMessage],
        tools: Sequence[ToolSpec],
        ways: Sequence[str],
        earlier: Set[tuple[str, str]],
    ) -> AsyncGenerator[ToolCallDelta, None]:
        grammar = build_grammar(build_choice_schema(tools, ways))
        by_name = {tool.name: tool for tool in tools}
        reader = ChoiceReader()
        call_id, held = new_id("call"), ""
        async for text in self._generate(texts, {**EXACT, "max_tokens": LONGEST_CHOICE}, grammar):
            arguments = reader.feed(text)
            if reader.name is None:
                continue
            held += arguments
            if may_invent(by_name.get(reader.name)) or any(name == reader.name for name, _ in earlier):
                continue  # it may make an argument up or repeat a call, which is known only at its end
            yield ToolCallDelta(0, call_id, reader.name if call_id else None, held)
            call_id, held = None, ""
        if reader.name is None:
            self._check_choice(reader.text, ways)
            return
        if tool := by_name.get(reader.name):
            held = drop_invented_text(held, tool, join_said(self._request.messages))
        if not call_id or (reader.name, normalize(held)) not in earlier:
            if call_id:
                yield ToolCallDelta(0, call_id, reader.name, held)
            self._reason = "tool-calls"

    async def _find_tool(self, texts: Sequence[TextMessage], ways: Sequence[str]) -> list[ToolSpec]:
        """Return the tool that fits best, or none: the best by name are weighed until one surely fits.

        If none does, the documents are searched for a request that is about them.
        """
        request = self._request
        grammar = build_grammar(build_name_schema(request.tools, ways))
        ranking = await self._score(texts, LONGEST_NAME, grammar)
        question = find_question(request.messages)
        best, best_odds = list[ToolSpec](), -inf
        libraries = [tool for tool in request.tools if is_library(tool)]
        others = [tool for tool in request.tools if tool not in libraries]
        for tool, lead in rank_tools(ranking, others, ways):
            odds = await self.weigh(question, tool)
            if odds >= find_need(tool, lead) and odds > best_odds:
                best, best_odds = [tool], odds
            if odds >= SURE:
                break
        if libraries and not best and await self.weigh(question, libraries[0]) >= LIBRARY_NEEDS:
            return libraries
        return best

    async def weigh(self, question: str, tool: ToolSpec) -> float:
        """Return the logarithm of the odds that a tool does what a question asks for."""
        if is_library(tool):
            return read_odds(await self._score(build_about_texts(question), 1, None), "ours", "general")
        return read_odds(await self._score(build_fit_texts(question, tool), 1, None))

    async def read_examples(self) -> None:
        """Read the examples before both questions about a tool, so that the first chat need not."""
        for texts in (build_fit_texts("Hello", EXAMPLE), build_about_texts("Hello")):
            await self._score(texts, 1, None)

    async def _score(self, texts: Sequence[TextMessage], limit: int, grammar: str | None) -> list[Token]:
        """Return the tokens of a short generation, each with what else it might have been."""
        self._tokens.clear()
        async for _ in self._generate(texts, {**EXACT, **SCORES, "max_tokens": limit}, grammar):
            pass
        return list(self._tokens)

    def _check_choice(self, text: str, ways: Sequence[str]) -> None:
        if text not in [json.dumps({"tool": way}) for way in ways]:
            names = ", ".join(tool.name for tool in self._request.tools)
            logger.warning("the engine could not enforce the schemas of these tools: %s", names)

    async def _write(self, texts: Sequence[TextMessage]) -> AsyncGenerator[str, None]:
        options = dict(self._request.options)
        if "max_completion_tokens" in options:
            options.setdefault("max_tokens", options.pop("max_completion_tokens"))
        grammar = PLAIN_TEXT if self._request.tools else None
        if self._request.schema is not None:
            grammar = build_grammar(close_schema(self._request.schema))
        async for text in self._generate(texts, {**EXACT, **options}, grammar):
            yield text

    async def _generate(
        self, texts: Sequence[TextMessage], options: Mapping[str, Any], grammar: str | None
    ) -> AsyncGenerator[str, None]:
        """Yield the text of one generation; record its usage and reason."""
        body: dict[str, Any] = {
            **options,
            "messages": texts,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # a sign of life, and a chance to stop, while the prompt is read
        }
        if grammar is not None:
            body["grammar"] = grammar
        self._is_idle = False
        self._generation = self._engine.start(body, self._on_end)
        async for piece in self._generation.read():
            if text := self._read(piece):
                yield text

    def _on_end(self) -> None:
        # Runs in the thread of the generation. Either this or `close` is last and leaves the queue.
        self._is_idle = True
        if self._is_closed:
            self._ticket.leave()

    def _read(self, piece: Piece) -> str:
        if "error" in piece:
            raise explain_error(piece["error"])
        if usage := piece.get("usage"):
            self._usage += read_usage(usage)
        self._last = piece
        choices: Sequence[Mapping[str, Any]] = piece.get("choices") or ()
        for choice in choices:
            self._reason = choice.get("finish_reason") or self._reason
            self._tokens += read_tokens(choice)
            return choice["delta"].get("content") or ""
        return ""

    def _finish(self) -> FinishDelta:
        return FinishDelta(
            reason=self._reason,
            usage=self._usage,
            model=self._model,
            request_id=self._last.get("id"),
            payload=self._last,
        )


def find_calls_since_user(messages: Sequence[ChatMessage]) -> set[tuple[str, str]]:
    """Return the calls since the last user message: name and arguments."""
    calls: set[tuple[str, str]] = set()
    for message in messages:
        if message["role"] == "user":
            calls.clear()
        for call in message.get("tool_calls") or ():
            calls.add((call["function"]["name"], normalize(call["function"]["arguments"])))
    return calls


def normalize(arguments: Any) -> str:
    """Return arguments in canonical form, so that equal ones are equal texts."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return str(arguments)
    return json.dumps(value, sort_keys=True)


def explain_error(error: Mapping[str, Any]) -> ModelError:
    """Return the engine's refusal as a `ModelError`."""
    status = error.get("code")
    if error.get("type") == "exceed_context_size_error":
        return ContextLengthError(
            f"Context length of the embedded model exceeded: {error.get('n_prompt_tokens')} tokens, "
            f"at most {error.get('n_ctx')}",
            limit=error.get("n_ctx"),
            provider="local",
            status=status,
            hint="Start a new conversation, send less, or choose a larger model with DOVETAIL_MODEL.",
        )
    return ModelError(
        f"The embedded model rejected the request: {error.get('message')}", provider="local", status=status
    )
