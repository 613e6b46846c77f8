"""Agents as OpenAI models: chat completions and the list of models.

A request contains its whole conversation, so only the run is stored, without a session. Such a response
cannot be resumed, so a client that disconnects cancels the run; no user can be asked, so calls that need an
approval are denied.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, field_validator
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dovetail.app import Dovetail
from dovetail.concurrency import compute
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError, ConflictError, NotFoundError
from dovetail.events.delta import Usage
from dovetail.events.run_events import Entry, TurnEnd
from dovetail.events.run_result import RunResult
from dovetail.ids import new_id
from dovetail.requesters.openai.format import write_usage
from dovetail.runs.reader import Reader
from dovetail.runs.run import RunHandle
from dovetail.server.errors import RUN_STATUSES, error_response
from dovetail.server.responses import JsonResponse
from dovetail.server.schemas import MOST_MESSAGES, MOST_PARTS, App, Owner
from dovetail.server.streams.event_stream import EventStream
from dovetail.server.streams.openai import (
    CompletionEncoder,
    read_finish_reason,
    read_text,
    write_result,
)
from dovetail.sessions.message import Message, Session
from dovetail.sessions.part_shape import check_file
from dovetail.sessions.parts import fold_parts
from dovetail.sessions.request import ChatTurn

_OPTIONS = (
    "frequency_penalty",
    "max_completion_tokens",
    "max_tokens",
    "presence_penalty",
    "reasoning_effort",
    "seed",
    "stop",
    "temperature",
    "top_p",
)


class CompletionMessage(BaseModel):
    """One message of the conversation: text, or a list of parts with text and images."""

    model_config = ConfigDict(extra="ignore")
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The text of the message, without images."""
        if isinstance(self.content, list):
            return "\n\n".join(str(part["text"]) for part in self.content if part.get("type") == "text")
        return self.content or ""

    @field_validator("content")
    @classmethod
    def _check_parts(cls, value: str | list[dict[str, Any]] | None) -> str | list[dict[str, Any]] | None:
        parts = value if isinstance(value, list) else ()
        if len(parts) > MOST_PARTS:
            raise ValueError(f"a message has {len(parts)} parts; at most {MOST_PARTS} are allowed")
        for part in parts:
            if part.get("type") not in ("text", "image_url") or part["type"] not in part:
                raise ValueError("a part must be {type: text, text} or {type: image_url, image_url}")
            if part["type"] == "image_url":
                image = part["image_url"]
                if problem := check_file({"url": image.get("url") if is_mapping(image) else image}):
                    raise ValueError(problem)
        return value


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool = False


class CompletionBody(BaseModel):
    """A conversation for an agent, which is named as the model."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"model": "master", "messages": [{"role": "user", "content": "Hello"}], "stream": True}
            ]
        },
        extra="ignore",
    )
    model: str
    messages: list[CompletionMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = 1
    tools: list[Any] | None = None
    response_format: dict[str, Any] | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    seed: int | None = None
    stop: str | list[str] | None = None
    reasoning_effort: str | None = None

    @field_validator("tools")
    @classmethod
    def _refuse_tools(cls, value: list[Any] | None) -> list[Any] | None:
        if value:
            raise ValueError("agents have their own tools, which run on the server; leave `tools` out")
        return value

    @field_validator("response_format")
    @classmethod
    def _refuse_formats(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value and value.get("type") != "text":
            raise ValueError(
                "agents answer with text or the output of their definition; leave `response_format` out"
            )
        return value

    @property
    def includes_usage(self) -> bool:
        """Whether a stream ends with a chunk of usage."""
        return self.stream_options is not None and self.stream_options.include_usage

    def read_options(self) -> dict[str, Any]:
        """The options that are passed to the model unchanged."""
        return {name: value for name in _OPTIONS if (value := getattr(self, name)) is not None}

    def read_history(self) -> list[Message]:
        """The conversation as our messages."""
        return [
            Message(
                id=new_id("msg"),
                role=message.role if message.role != "developer" else "system",
                parts=[{"type": "text", "text": message.text}],
                content=[{"role": message.role, "content": message.content or ""}],
            )
            for message in self.messages
        ]


router = APIRouter(prefix="/v1", tags=["openai"])


@router.post("/chat/completions", response_class=Response)
async def complete(body: CompletionBody, request: Request, app: App, owner: Owner) -> Response:
    """Answer a conversation (OpenAI's chat completions); `model` is the name of an agent."""
    _require_agent(app, body.model)
    now = time.time()
    nowhere = Session(
        id="",
        owner=owner,
        title="",
        head_id=None,
        version=1,
        usage=Usage(),
        created_at=now,
        updated_at=now,
    )
    turn = ChatTurn(
        session=nowhere,
        history=body.read_history(),
        agent=body.model,
        model=None,
        tab_id=None,
        owner=owner,
        parameters=body.read_options(),
        can_ask=False,
    )
    handle = await app.chat.answer(turn)
    if not body.stream:
        return await _answer(app, handle, request, body.model)
    encoder = CompletionEncoder(
        completion_id=handle.run_id,
        model=body.model,
        created=int(now),
        includes_usage=body.includes_usage,
    )
    return _CompletionStream(app, await app.runs.read(handle.run_id), encoder, handle)


@router.get("/models")
async def list_models(app: App) -> dict[str, Any]:
    """List the agents as OpenAI lists models."""
    names = [definition.name for definition in app.agents.get_all_definitions()]
    return {"object": "list", "data": [_describe(name) for name in names]}


@router.get("/models/{model}")
async def get_model(model: str, app: App) -> dict[str, Any]:
    """Describe one agent as OpenAI describes a model."""
    _require_agent(app, model)
    return _describe(model)


class _CompletionStream(EventStream):
    """A stream whose run is cancelled when its only reader disconnects."""

    def __init__(self, app: Dovetail, reader: Reader, encoder: CompletionEncoder, handle: RunHandle) -> None:
        super().__init__(reader, encoder)
        self._app = app
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._app.runs.is_here(self._handle.run_id):
                await _stop(self._app, self._handle)


async def _answer(app: Dovetail, handle: RunHandle, request: Request, model: str) -> Response:
    gone, ended = asyncio.create_task(_wait_until_gone(request)), asyncio.create_task(handle.result())
    try:
        await asyncio.wait([gone, ended], return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        if not ended.done():
            await _stop(app, handle)
    result = await ended
    if result.error is not None:
        return error_response(RUN_STATUSES.get(result.error["type"], 500), result.error, request.url.path)
    return JsonResponse(await _describe_answer(app, handle, result, model))


async def _describe_answer(app: Dovetail, handle: RunHandle, result: RunResult, model: str) -> dict[str, Any]:
    entries = await app.runs.history(handle.run_id)
    parts = await compute(lambda: fold_parts(entries), len(entries))
    text = read_text(parts, "text") or ("" if result.value is None else write_result(result.value))
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if reasoning := read_text(parts, "reasoning"):
        message["reasoning_content"] = reasoning
    finish_reason = read_finish_reason(result.reason, result.finish_reason)
    return {
        "id": handle.run_id,
        "object": "chat.completion",
        "created": int(entries[0].time),
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}],
        "usage": write_usage(_add_usage(entries)),
    }


def _add_usage(entries: Sequence[Entry]) -> Usage:
    """Return the tokens of all turns, including those of sub-agents."""
    return sum((entry.event.usage for entry in entries if isinstance(entry.event, TurnEnd)), Usage())


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _stop(app: Dovetail, handle: RunHandle) -> None:
    """Cancel the run of a client that has disconnected, unless it has ended."""
    with contextlib.suppress(ConflictError, NotFoundError):
        await app.runs.cancel(handle.run_id)


def _require_agent(app: Dovetail, name: str) -> None:
    try:
        app.agents.get_definition(name)
    except ConfigError as error:
        raise NotFoundError(error.message, hint="GET /v1/models lists the agents.") from error


def _describe(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "dovetail"}
