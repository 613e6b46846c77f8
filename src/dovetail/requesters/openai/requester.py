"""The requester for OpenAI-compatible APIs: OpenAI, ollama, vLLM, llama.cpp, OpenRouter, DeepSeek …"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.errors import ModelError, TransientModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta
from dovetail.lazy import lazy
from dovetail.requesters.errors import Refusal, explain_connection
from dovetail.requesters.openai.body import build_body, find_refused_part
from dovetail.requesters.openai.http import Endpoint, get_session, release
from dovetail.requesters.openai.stream import AnswerStream

aiohttp = lazy("aiohttp")
logger = logging.getLogger(__name__)

LARGEST_REFUSAL = 64 * 1024
MODELS_LIMIT = 3.0


class OpenAIRequester:
    """Send requests to `POST <base_url>/chat/completions`.

    A temporary failure is retried, but only before the first delta has been yielded. `refused` holds the
    options that the server has rejected; requesters of the same model may share it.
    """

    def __init__(self, endpoint: Endpoint, *, refused: set[str] | None = None) -> None:
        self.endpoint = endpoint
        self._refused: set[str] = set() if refused is None else refused
        self._failures = endpoint.build_failures()
        self._headers = endpoint.build_headers()
        self._proxy = endpoint.choose_proxy()

    def __repr__(self) -> str:
        return f"OpenAIRequester({self.model!r}, {self._failures.address!r})"

    @property
    def model(self) -> str:
        """The model's name, `provider:name`."""
        return f"{self.endpoint.provider}:{self.endpoint.model}"

    @property
    def secrets(self) -> Sequence[str]:
        """Texts to mask when its messages are shown."""
        return self._failures.secrets

    @property
    def follows_schema(self) -> bool:
        """Whether schemas are sent: never with `prompt`, with `auto` until the server rejects one."""
        if self.endpoint.structured == "auto":
            return "response_format" not in self._refused
        return self.endpoint.structured == "schema"

    @property
    def calls_tools(self) -> bool:
        """Whether the model supports tools; assumed until the server says that it does not."""
        return "tools" not in self._refused

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas as they arrive."""
        answer = await self._open(request)
        try:
            for delta in answer.first:
                yield delta
            while not answer.over:
                for delta in await answer.read():
                    yield delta
            yield self._add_cost(answer.finish())
            await answer.drain()
        finally:
            answer.close()

    async def close(self) -> None:
        """Release the connections, unless other requesters use them."""
        await release(self)

    async def _open(self, request: ModelRequest) -> AnswerStream:
        clock = asyncio.get_running_loop().time
        policy = self.endpoint.retries
        deadline = clock() + self.endpoint.limits.total
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._try_open(request, deadline)
            except TransientModelError as error:
                delay = policy.choose_delay(attempt, error.retry_after)
                if delay is None or clock() + delay >= deadline:
                    raise
                logger.warning("attempt %d failed, retrying in %.1f s: %s", attempt, delay, error.message)
                await policy.sleep(delay)

    async def _try_open(self, request: ModelRequest, deadline: float) -> AnswerStream:
        limits = self.endpoint.limits
        limit = limits.first_token if request.stream and self.endpoint.stream else limits.total
        try:
            async with asyncio.timeout_at(min(deadline, asyncio.get_running_loop().time() + limit)):
                return await self._post(request, deadline)
        except (aiohttp.ClientError, OSError) as error:
            failure = self._explain_network(error, limit)
        # Not inside the handler: the HTTP client's errors hold the headers, and the key would come along.
        raise failure

    def _explain_network(self, error: Exception, limit: float) -> ModelError:
        if isinstance(error, aiohttp.ClientError) or not isinstance(error, TimeoutError):
            return explain_connection(error, self._failures)
        return self._failures.fail_transient(
            f"No response from {self.model} within {limit:g} s.",
            hint="Raise model.timeouts.first_token (or .total) if the model needs more time.",
        )

    async def _post(self, request: ModelRequest, deadline: float) -> AnswerStream:
        body = self._build_body(request)
        response = await self._send(body)
        answer = AnswerStream(response, self._failures, self.endpoint.limits, deadline, request.pace)
        try:
            if response.status == 200:
                await answer.begin()
                return answer
            refusal = await self._read_refusal(response)
        except BaseException:
            answer.close()
            raise
        answer.close()
        part = find_refused_part(refusal, body)
        if part is not None and self._may_leave_out(part):
            self._refused.add(part)
            return await self._post(request, deadline)
        raise await self._explain(refusal, response.headers)

    async def _send(self, body: Mapping[str, Any]) -> Any:
        session = await get_session(self)
        return await session.post(
            self.endpoint.join("chat/completions"),
            data=json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
            headers=self._headers,
            proxy=self._proxy,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.endpoint.limits.connect),
        )

    def _build_body(self, request: ModelRequest) -> dict[str, Any]:
        endpoint = self.endpoint
        without = self._refused if endpoint.structured != "prompt" else self._refused | {"response_format"}
        named = replace(
            request,
            model=request.model.removeprefix(f"{endpoint.provider}:") or endpoint.model,
            options={**endpoint.options, **request.options},
            stream=request.stream and endpoint.stream,
        )
        return build_body(named, extra=endpoint.body, without=without)

    def _may_leave_out(self, part: str) -> bool:
        return part not in self._refused and not (
            part == "response_format" and self.endpoint.structured == "schema"
        )

    async def _read_refusal(self, response: Any) -> Refusal:
        body: bytes = await response.content.read(LARGEST_REFUSAL)
        if body.lstrip().startswith(b"<"):
            raise self._failures.fail_page(response.status, body)
        return Refusal.read(response.status, body)

    async def _explain(self, refusal: Refusal, headers: Mapping[str, str]) -> ModelError:
        if refusal.names_model:
            return self._failures.fail_unknown_model(await self._list_models(), refusal.status)
        if refusal.refuses_tools:
            self._refused.add("tools")
            return self._failures.fail(
                f"{self.model} does not support tools: {refusal.message}",
                hint='Set tools.strategy to "judge": it works with any model.',
                status=refusal.status,
            )
        return self._failures.fail_status(refusal, headers)

    async def _list_models(self) -> list[str]:
        """Return the names of the server's models; empty if it does not list them."""
        session = await get_session(self)
        limit = aiohttp.ClientTimeout(total=MODELS_LIMIT)
        address = self.endpoint.join("models")
        try:
            async with session.get(
                address, headers=self._headers, proxy=self._proxy, allow_redirects=False, timeout=limit
            ) as response:
                data = json.loads(await response.read())
        except (aiohttp.ClientError, OSError, ValueError, RecursionError):
            return []
        return [str(entry["id"]) for entry in _read_entries(data) if "id" in entry]

    def _add_cost(self, finish: FinishDelta) -> FinishDelta:
        price = self.endpoint.price
        return finish if price is None else replace(finish, usage=price.apply(finish.usage))


def _read_entries(data: Any) -> list[Mapping[str, Any]]:
    entries = data.get("data") if is_mapping(data) else None
    return [entry for entry in entries or () if is_mapping(entry)]
