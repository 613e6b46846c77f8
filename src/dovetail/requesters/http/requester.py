"""Send requests to models over HTTP: retries and explained failures, the same for every protocol."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dovetail.errors import ContextLengthError, ModelError, TransientModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta, Usage
from dovetail.lazy import lazy
from dovetail.requesters.clock import note_retry
from dovetail.requesters.errors import explain_connection
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.protocol import ChatProtocol
from dovetail.requesters.http.reader import PAUSED
from dovetail.requesters.http.session import get_session, release
from dovetail.requesters.http.stream import AnswerStream
from dovetail.requesters.lengths import merge_options, read_length
from dovetail.requesters.prices import Pricing
from dovetail.requesters.refusal import Refusal
from dovetail.requesters.thinking import count_tokens, settle_thinking
from dovetail.requesters.warn import warn_once
from dovetail.requesters.windows import recall_window

aiohttp = lazy("aiohttp")
yarl = lazy("yarl")
logger = logging.getLogger(__name__)

LARGEST_REFUSAL = 64 * 1024
MODELS_LIMIT = 3.0
"""Seconds for a server to say which models it has, and the like."""
MOST_PAUSES = 20
"""Times that one answer may be continued."""


class HttpRequester:
    """Send requests to an endpoint in the words of a protocol.

    A temporary failure is retried, but only before the first delta has been yielded. `refused` holds the
    options that the server has rejected; requesters of the same model may share it.
    """

    def __init__(self, protocol: ChatProtocol, *, refused: set[str] | None = None) -> None:
        self.protocol = protocol
        self.endpoint: Endpoint = protocol.endpoint
        endpoint = self.endpoint
        self._refused: set[str] = set() if refused is None else refused
        self._failures = endpoint.build_failures()
        self._headers = endpoint.build_headers(protocol.build_headers())
        self._proxy = endpoint.choose_proxy()
        public_name = endpoint.public_name or self.model
        self._window = recall_window(endpoint.base_url, endpoint.provider, endpoint.model, public_name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, {self._failures.address!r})"

    @property
    def model(self) -> str:
        """The model's name, `provider:name`."""
        return f"{self.endpoint.provider}:{self.endpoint.model}"

    @property
    def price(self) -> Pricing | None:
        """What the model's tokens cost, if known."""
        return self.endpoint.price

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of every request."""
        return self.endpoint.options

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

    @property
    def context_tokens(self) -> int | None:
        """The context window, if it is known without asking the server."""
        return self._window.known

    async def find_context_tokens(self) -> int | None:
        """Return the context window; if it is not known, the server is asked once."""
        return await self._window.find(self.protocol.models_path, self.fetch)

    def find_length(self, request: ModelRequest) -> int | None:
        """Return the output tokens that a request asks for, as the server reads it; None if unlimited."""
        named = self._name(replace(request, messages=(), tools=(), schema=None))
        without = self._list_unwanted(named)
        return read_length(self.protocol.choose(without).build_body(named, without))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas as they arrive; a paused answer is continued."""
        earlier = Usage()
        for _ in range(MOST_PAUSES):
            answer = await self._open(request)
            try:
                for delta in answer.first:
                    yield delta
                while not answer.over:
                    for delta in await answer.read():
                        yield delta
                finish = self._add_cost(answer.finish())
                if finish.reason != PAUSED:
                    yield finish if earlier == Usage() else replace(finish, usage=earlier + finish.usage)
                    await answer.drain()
                    return
            finally:
                answer.close()
            earlier += finish.usage
            request = replace(request, messages=[*request.messages, answer.build_message()])
        raise self._failures.fail(f"{self.model} paused its answer {MOST_PAUSES} times without an end.")

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
                note_retry(error, delay)
                await policy.sleep(delay)
            except ContextLengthError as error:
                self._window.learn(error.limit)
                raise

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

    async def _post(
        self, request: ModelRequest, deadline: float, skipped: frozenset[str] = frozenset()
    ) -> AnswerStream:
        named = self._name(request)
        without = skipped.union(self._list_unwanted(named))
        protocol = self.protocol.choose(without)
        body = protocol.build_body(protocol.settle(named), without)
        response = await self._send(protocol, named, body)
        reader = protocol.make_reader(self._failures)
        answer = AnswerStream(response, reader, self._failures, self.endpoint.limits, deadline)
        answer.pace = request.pace
        try:
            if response.status == 200:
                await answer.begin()
                return answer
            said: bytes = await response.content.read(LARGEST_REFUSAL)
        except BaseException:
            answer.close()
            raise
        answer.close()
        is_page = said.lstrip().startswith(b"<")
        refusal = Refusal.read(response.status, b"" if is_page else said)
        part = protocol.find_refused_part(refusal, body)
        if part is not None and part not in without and self._may_leave_out(part, named, refusal):
            self._remember(part, named, protocol, refusal)
            return await self._post(request, deadline, skipped | {part})
        if is_page:
            raise self._failures.fail_page(response.status, said)
        raise await self._explain(refusal, response.headers, protocol)

    def _remember(self, part: str, request: ModelRequest, protocol: ChatProtocol, refusal: Refusal) -> None:
        """Leave a part out of later requests too, unless only its value in this one is wrong."""
        if part in protocol.momentary:
            return
        thinks = part in protocol.thinking_parts
        is_given = thinks or part == "response_format" or part in request.options
        is_lasting = refusal.is_unsupported
        if part == "response_format":  # a server that takes `text` and `json_object` takes no schemas at all
            is_lasting = not refusal.rejects_schema and (is_lasting or refusal.mentions(("json_object",)))
        if not is_given or is_lasting:
            self._refused.add(part)
            self._warn(part, request, protocol, f"from now on: {refusal.message}")
        elif thinks and refusal.rejects_value:
            self._refused.add(_name_value(part, request))
            self._warn(part, request, protocol, f"where it is {request.thinking!r}: {refusal.message}")
        else:
            self._warn(part, request, protocol, f"of this request: {refusal.message}")

    def _warn(self, part: str, request: ModelRequest, protocol: ChatProtocol, when: str) -> None:
        """Warn if the rejected part was asked for, and not only added by us."""
        is_set = part in request.options or part.startswith("tool_choice")
        if is_set or (request.thinking is not None and part in protocol.thinking_parts):
            warn_once(f"{self.model} rejects {part!r}, which is left out {when}")

    async def _send(self, protocol: ChatProtocol, request: ModelRequest, body: Mapping[str, Any]) -> Any:
        session = await get_session(self)
        url = self.endpoint.join(protocol.path(request))
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return await session.post(
            yarl.URL(url, encoded=protocol.keeps_url),
            data=data,
            headers=await protocol.sign(self._headers, url, data),
            proxy=self._proxy,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.endpoint.limits.connect),
        )

    def _list_unwanted(self, request: ModelRequest) -> set[str]:
        parts = self.protocol.thinking_parts
        unwanted = {part for part in parts if _name_value(part, request) in self._refused} | self._refused
        return unwanted if self.endpoint.structured != "prompt" else unwanted | {"response_format"}

    def _name(self, request: ModelRequest) -> ModelRequest:
        """Return the request with the name that the server knows, and with this endpoint's options."""
        endpoint = self.endpoint
        named = replace(
            request,
            model=request.model.removeprefix(f"{endpoint.provider}:") or endpoint.model,
            options=merge_options(endpoint.options, request.options),
            stream=request.stream and endpoint.stream,
        )
        settled = settle_thinking(named, endpoint.thinking)
        if request.longest is None or read_length({**settled.options, **endpoint.body}) is not None:
            return settled
        thinks = settled.thinking not in (None, "off")
        length = request.longest + (count_tokens(settled.thinking or 0) if thinks else 0)
        return replace(settled, options={**settled.options, "max_tokens": length})

    def _may_leave_out(self, part: str, request: ModelRequest, refusal: Refusal) -> bool:
        """Whether a request may do without a part; a wrong value of the user's own option is an error."""
        if part == "response_format" and self.endpoint.structured == "schema":
            return False
        return part not in request.options or refusal.is_unsupported or refusal.mentions(("cannot both",))

    async def _explain(
        self, refusal: Refusal, headers: Mapping[str, str], protocol: ChatProtocol
    ) -> ModelError:
        if refusal.names_model:
            return self._failures.fail_unknown_model(await self.list_models(), refusal.status)
        if refusal.refuses_tools:
            self._refused.add("tools")
            return self._failures.fail(
                f"{self.model} does not support tools: {refusal.message}",
                hint='Set tools.strategy to "judge": it works with any model.',
                status=refusal.status,
            )
        return protocol.explain(refusal, self._failures, headers)

    async def fetch(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON data at a route of the server, such as its list of models; None without any.

        With a body it is posted there.
        """
        if not path:
            return None
        try:
            return json.loads((await self.ask(path, body))[1])
        except (ModelError, ValueError, RecursionError):
            return None

    async def ask(
        self, path: str, body: Mapping[str, Any] | None = None, *, limit: float | None = None
    ) -> tuple[int, bytes]:
        """Return the status and the body of a route of the server, within a limit of seconds (3).

        Raises:
            ModelError: the server cannot be reached, or does not answer in time.
        """
        limit = MODELS_LIMIT if limit is None else limit
        session = await get_session(self)
        url, data = self.endpoint.join(path), b"" if body is None else json.dumps(body).encode()
        headers = await self.protocol.sign(self._headers, url, data)
        try:
            async with session.request(
                "GET" if body is None else "POST",
                url,
                data=data or None,
                headers=headers,
                proxy=self._proxy,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=limit),
            ) as response:
                return response.status, await response.read()
        except (aiohttp.ClientError, OSError) as error:
            failure = self._explain_network(error, limit)
        raise failure

    async def list_models(self) -> list[str]:
        """Return the names of the server's models; empty if it does not list them."""
        return self.protocol.read_models(await self.fetch(self.protocol.models_path))

    def _add_cost(self, finish: FinishDelta) -> FinishDelta:
        price = self.endpoint.price
        return finish if price is None else replace(finish, usage=price.apply(finish.usage, finish.model))


def _name_value(part: str, request: ModelRequest) -> str:
    """Return the name under which a value of `model.thinking` that the server rejects is remembered."""
    return f"{part} = {request.options.get('reasoning_effort', request.thinking)}"
