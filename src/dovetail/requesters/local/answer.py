"""One answer of an embedded model: with tools a choice first, then a call or text."""

import asyncio
import json
import logging
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from dovetail.errors import ContextLengthError, ModelError
from dovetail.events.call import ChatMessage, ModelRequest, ToolSpec
from dovetail.events.delta import Delta, FinishDelta, ProgressDelta, TextDelta, ToolCallDelta, Usage
from dovetail.ids import new_id
from dovetail.requesters.content import read_text
from dovetail.requesters.local.arguments import (
    MOST_CALLS,
    CallReader,
    build_argument_grammar,
    build_argument_texts,
)
from dovetail.requesters.local.choice import build_choice_texts, choose_ways, find_leads, score_names
from dovetail.requesters.local.closed_schema import build_grammar, close_schema
from dovetail.requesters.local.fit import (
    CHOSEN_NEEDS,
    EXAMPLE,
    SCORES,
    Token,
    build_about_texts,
    build_fit_texts,
    find_fitting,
    find_question,
    is_library,
    may_fit,
    read_odds,
    read_tokens,
)
from dovetail.requesters.local.grounding import drop_invented_text, join_said, may_invent
from dovetail.requesters.local.llama import Engine, Generation, Piece, Slot, Ticket
from dovetail.requesters.local.messages import (
    Conversation,
    TextMessage,
    is_error,
    name_calls,
    read_conversation,
)
from dovetail.requesters.local.repetition import Repetition
from dovetail.requesters.openai.format import read_usage

LONGEST_CALL = 1024
NEXT_CALL_NEEDS = 1.0
"""How far a tool must be ahead of reporting a result to be called after it; and a word must speak for it."""
MOST_CORRECTIONS = 2
FEW_TOKENS = 32
"""Tokens that are read again sooner than kept."""
EXACT = {"temperature": 0.0}
logger = logging.getLogger(__name__)
_CORRECTABLE = re.compile(
    r"Expected |Unknown |Invalid |Missing |must be |not found|No such |Did you mean", re.IGNORECASE
)


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
        self._prompt_tokens = self._new_tokens = 0

    async def stream(self) -> AsyncGenerator[Delta, None]:
        """Yield the deltas, the finish last."""
        request = self._request
        conversation = read_conversation(request.messages, self._model)
        if request.tools and request.tool_choice != "none":
            tool = await self._choose(conversation)
            if tool is not None:
                async for delta in self._call(tool, conversation):
                    yield delta
        if self._reason != "tool-calls":
            async for delta in self._write(conversation.build_texts(request.tools)):
                yield delta
        yield self._finish()

    def close(self) -> None:
        """Stop the generation; the turn passes on when it has stopped."""
        self._is_closed = True
        if self._generation is not None:
            self._generation.cancel()
        if self._is_idle:
            self._ticket.leave()

    async def _choose(self, conversation: Conversation) -> ToolSpec | None:
        """Return the tool to call next; None if the model should answer."""
        tools, steps = self._request.tools, conversation.steps
        if self._request.tool_choice == "required":
            return await self._choose_required(conversation)
        if failed := find_failed(steps, tools):
            return failed
        question = find_question(conversation.messages)
        leads = await self._rank(conversation, tools, choose_ways(tools, has_result=bool(steps)))
        if not steps:
            return await find_fitting(question, conversation.wish, leads, self.weigh)
        names = set(name_calls(steps).values())
        called = [tool for tool in tools if tool.name in names]
        for tool, lead in leads:
            if lead >= NEXT_CALL_NEEDS and tool not in called and may_fit(question, tool, called):
                return tool if await self.weigh(question, tool) >= CHOSEN_NEEDS else None
        return None

    async def _choose_required(self, conversation: Conversation) -> ToolSpec:
        """Return the tool that the model names, of those without a result, so that a task ends."""
        done = find_succeeded(conversation.messages)
        tools = [tool for tool in self._request.tools if tool.name not in done] or self._request.tools
        return tools[0] if len(tools) == 1 else (await self._rank(conversation, tools, []))[0][0]

    async def _rank(
        self, conversation: Conversation, tools: Sequence[ToolSpec], ways: Sequence[str]
    ) -> list[tuple[ToolSpec, float]]:
        """Return the tools, the best first, each with its lead over the ways to answer."""
        question = find_question(conversation.messages)
        texts = build_choice_texts(conversation.instructions, tools, question, conversation.steps)
        scores = await score_names(texts, [*ways, *(tool.name for tool in tools)], self._score_next)
        by_name = {tool.name: tool for tool in tools}
        return [(by_name[name], lead) for name, lead in find_leads(scores, ways).items()]

    async def _call(self, tool: ToolSpec, conversation: Conversation) -> AsyncGenerator[ToolCallDelta, None]:
        """Yield the calls while they are written; a call that was already made is left out."""
        must_call = self._request.tool_choice == "required"
        earlier = set[tuple[str, str]]() if must_call else find_calls_since_user(self._request.messages)
        is_open = not may_invent(tool) and all(name != tool.name for name, _ in earlier)
        call_id, reader = new_id("call"), CallReader()
        texts = build_argument_texts(tool, conversation)
        grammar = build_argument_grammar(tool, 1 if must_call else MOST_CALLS)
        async for text in self._write_arguments(tool, texts, grammar):
            arguments = reader.feed(text)
            if is_open and arguments:  # others are known to be made up or repeated only at their end
                yield ToolCallDelta(0, call_id, tool.name if call_id else None, arguments)
                call_id = None
        made, index = set(earlier), 0
        for place, arguments in enumerate(reader.finish()):
            settled = drop_invented_text(arguments, tool, join_said(self._request.messages))
            call = (tool.name, normalize(settled))
            if not (is_open and place == 0):
                if call in made:
                    continue
                yield ToolCallDelta(index, new_id("call"), tool.name, settled)
            made.add(call)
            index += 1
        if index:
            self._reason = "tool-calls"
        elif not reader.ended:
            logger.warning("the engine could not enforce the schema of the tool %r", tool.name)

    async def _write_arguments(
        self, tool: ToolSpec, texts: Sequence[TextMessage], grammar: str
    ) -> AsyncGenerator[str, None]:
        """Yield arguments as they are written; if they repeat themselves, they end without being whole."""
        options = {**EXACT, "max_tokens": LONGEST_CALL}
        repetition, written = Repetition(), 0
        async with aclosing(self._generate(Slot.ARGUMENTS, texts, options, grammar)) as pieces:
            async for text in pieces:
                yield text
                written += 1
                repetition.feed(text)
                if repetition.is_loop:
                    logger.warning("the arguments of %r repeat themselves, and were cut off", tool.name)
                    self._usage += Usage(self._prompt_tokens, written)
                    return

    async def _score_next(self, texts: list[TextMessage]) -> list[Token]:
        return await self._score(Slot.CHOICE, texts)

    async def weigh(self, question: str, tool: ToolSpec) -> float:
        """Return the logarithm of the odds that a tool does what a question asks for."""
        if is_library(tool):
            return read_odds(await self._score(Slot.FIT, build_about_texts(question)), "ours", "general")
        return read_odds(await self._score(Slot.FIT, build_fit_texts(question, tool)))

    async def read_ahead(self, slot: Slot, texts: Sequence[TextMessage]) -> None:
        """Read what texts begin with, and keep it for later processes unless it was kept before."""
        await self._ask_next(slot, [texts[0], {"role": "user", "content": "Hello"}])
        if self._new_tokens > FEW_TOKENS:
            await asyncio.to_thread(self._engine.keep, slot, texts)

    async def _score(self, slot: Slot, texts: Sequence[TextMessage]) -> list[Token]:
        """Return the next token after some texts, with what else it might have been."""
        if self._engine.is_new(slot, texts):  # the question itself is not for the disk
            await self.read_ahead(slot, texts)
        return await self._ask_next(slot, texts)

    async def _ask_next(self, slot: Slot, texts: Sequence[TextMessage]) -> list[Token]:
        self._tokens.clear()
        async for _ in self._generate(slot, texts, {**EXACT, **SCORES, "max_tokens": 1}):
            pass
        return list(self._tokens)

    async def _write(self, texts: Sequence[TextMessage]) -> AsyncGenerator[Delta, None]:
        """Yield how far the prompt is read, and then the answer; one that repeats itself is stopped."""
        options = dict(self._request.options)
        if "max_completion_tokens" in options:
            options.setdefault("max_tokens", options.pop("max_completion_tokens"))
        grammar = None
        if self._request.schema is not None:
            grammar = build_grammar(close_schema(self._request.schema))
        repetition, written = Repetition(), 0
        async with aclosing(self._start(Slot.ANSWER, texts, {**EXACT, **options}, grammar)) as pieces:
            async for piece in pieces:
                if (progress := read_progress(piece)) is not None:
                    yield progress
                text = self._read(piece)
                written += bool(text)
                if shown := repetition.feed(text):
                    yield TextDelta(shown)
                if repetition.is_loop:  # the engine counts only what it ends itself
                    self._reason = "repetition"
                    self._usage += Usage(self._prompt_tokens, written)
                    break
        if rest := repetition.finish():
            yield TextDelta(rest)

    async def _generate(
        self, slot: Slot, texts: Sequence[TextMessage], options: Mapping[str, Any], grammar: str | None = None
    ) -> AsyncGenerator[str, None]:
        """Yield the text of one generation; record its usage and reason."""
        async for piece in self._start(slot, texts, options, grammar):
            if text := self._read(piece):
                yield text

    async def _start(
        self, slot: Slot, texts: Sequence[TextMessage], options: Mapping[str, Any], grammar: str | None
    ) -> AsyncGenerator[Piece, None]:
        """Yield the pieces of one generation."""
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
        self._generation = self._engine.start(slot, body, self._on_end)
        async for piece in self._generation.read():
            yield piece

    def _on_end(self) -> None:
        # Runs in the thread of the generation. Either this or `close` is last and leaves the queue.
        self._is_idle = True
        if self._is_closed:
            self._ticket.leave()

    def _read(self, piece: Piece) -> str:
        if "error" in piece:
            raise explain_error(piece["error"])
        if progress := piece.get("prompt_progress"):
            self._prompt_tokens = progress["total"]
            self._new_tokens = progress["total"] - progress["cache"]
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


def list_beginnings(request: ModelRequest, *, has_choice: bool) -> list[tuple[Slot, list[TextMessage]]]:
    """Return what every chat begins with that is like a request, in the order of use."""
    conversation = read_conversation(request.messages)
    answer = (Slot.ANSWER, conversation.build_texts())
    if not request.tools or not has_choice:
        return [answer]
    choice = build_choice_texts(conversation.instructions, request.tools, "")
    return [(Slot.CHOICE, choice), answer, (Slot.FIT, build_fit_texts("", EXAMPLE))]


def read_progress(piece: Piece) -> ProgressDelta | None:
    """Return how much of the prompt is read, if a piece says so; what was in the cache does not count."""
    progress = piece.get("prompt_progress")
    if progress is None:
        return None
    cached: int = progress["cache"]
    return ProgressDelta("read", progress["processed"] - cached, progress["total"] - cached)


def find_failed(steps: Sequence[Mapping[str, Any]], tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool whose last call failed by its arguments, so that it can be called with better ones."""
    results = [message for message in steps if message["role"] == "tool"]
    failures = [text for message in results if is_error(text := read_text(message.get("content")))]
    if (
        not failures
        or len(failures) > MOST_CORRECTIONS
        or failures[-1] != read_text(results[-1].get("content"))
    ):
        return None
    name = name_calls(steps).get(results[-1].get("tool_call_id", ""))
    return next((tool for tool in tools if tool.name == name and _CORRECTABLE.search(failures[-1])), None)


def find_succeeded(messages: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the names of the tools whose calls had a result that is not an error."""
    names = name_calls(messages)
    results = [message for message in messages if message["role"] == "tool"]
    good = [message for message in results if not is_error(read_text(message.get("content")))]
    return {names.get(message.get("tool_call_id", ""), "") for message in good}


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
