"""Model servers that fail, over a real socket: retries, error messages, and that no key leaks."""

import asyncio
import logging
import math
import socket
import traceback
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from dovetail.data.text import report_error
from dovetail.errors import ConfigError, ModelError, TransientModelError
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.events.delta import Delta, TextDelta
from dovetail.requesters.errors import explain_connection
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.limits import RetryPolicy, TimeLimits
from dovetail.requesters.openai.requester import OpenAIRequester
from dovetail.requesters.refusal import Refusal
from dovetail.testing import Break, Gate, Reply, ScriptedServer
from patience import PATIENCE

HELLO = ModelRequest(messages=[{"role": "user", "content": "hello"}])
KEY = "sk-very-secret-0123456789"
ONCE = RetryPolicy(attempts=1)
STALL = Gate("never opened")
PAGE = Reply(headers={"content-type": "text/html"}, body="<!doctype html><html><title>Log in</title>")


class Naps:
    """Takes the place of sleeping, and keeps how long was asked for."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    async def __call__(self, delay: float) -> None:
        self.delays.append(delay)


def connect(server: ScriptedServer, retries: RetryPolicy = ONCE, **fields: Any) -> OpenAIRequester:
    return OpenAIRequester(Endpoint(**{"model": "m", "base_url": server.url, "retries": retries, **fields}))


async def collect(requester: OpenAIRequester, request: ModelRequest = HELLO) -> list[Delta]:
    return [delta async for delta in requester.stream(request)]


async def fail(requester: OpenAIRequester, request: ModelRequest = HELLO) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await collect(requester, request)
    return caught.value


@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms"])
@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-5", "1e999", "0x10", "soon", "9" * 400])
async def test_a_wait_that_no_timer_can_take_never_reaches_one(name: str, value: str) -> None:
    naps = Naps()
    async with ScriptedServer([Reply(status=429, headers={name: value}), "at last"]) as server:
        deltas = await collect(connect(server, RetryPolicy(sleep=naps)))
    assert deltas[0] == TextDelta("at last")
    assert 0 <= naps.delays[0] <= 60


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, True, "1", 10**400])
@pytest.mark.parametrize("kind", [TimeLimits, RetryPolicy])
def test_a_limit_that_is_not_a_finite_number_is_refused(kind: type[Any], value: Any) -> None:
    name = "total" if kind is TimeLimits else "longest_wait"
    with pytest.raises(ConfigError, match=f"{name} must be a finite number"):
        kind.read({name: value})


def test_the_thousandth_attempt_has_a_delay_too() -> None:
    assert (RetryPolicy(attempts=5000).choose_delay(4000, None) or 0) <= 8


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
async def test_failure_that_may_pass_is_tried_again_after_growing_delays(status: int) -> None:
    naps = Naps()
    async with ScriptedServer([Reply(status=status)] * 3 + ["at last"]) as server:
        deltas = await collect(connect(server, RetryPolicy(sleep=naps)))
    assert deltas[0] == TextDelta("at last")
    assert len(naps.delays) == 3
    for number, delay in enumerate(naps.delays):
        assert 0.25 * 2**number <= delay <= 0.5 * 2**number


@pytest.mark.parametrize(
    "reply",
    [
        [Break()],
        [b": here\n\n", Break()],
        [b": here\n\n", Break("close")],
        [Break("end")],
        [b": here\n\n", Break("end")],
        [b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n', Break()],
        {"error": ModelError("overloaded", provider="x", status=503)},
    ],
)
async def test_connection_lost_before_the_first_token_is_tried_again(reply: Any) -> None:
    naps = Naps()
    async with ScriptedServer([reply, "at last"]) as server:
        deltas = await collect(connect(server, RetryPolicy(sleep=naps)))
    assert deltas[0] == TextDelta("at last")
    assert len(naps.delays) == 1


@pytest.mark.parametrize(
    ("headers", "delay"), [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5)]
)
async def test_server_s_own_delay_is_kept(headers: dict[str, str], delay: float) -> None:
    naps = Naps()
    async with ScriptedServer([Reply(status=429, headers=headers), "at last"]) as server:
        await collect(connect(server, RetryPolicy(sleep=naps)))
    assert naps.delays == [delay]


async def test_delay_that_is_too_long_is_reported_at_once() -> None:
    naps = Naps()
    async with ScriptedServer([Reply(status=429, headers={"retry-after": "3600"})]) as server:
        error = await fail(connect(server, RetryPolicy(sleep=naps)))
    assert isinstance(error, TransientModelError)
    assert (error.retry_after, naps.delays) == (3600.0, [])


async def test_attempts_end() -> None:
    naps = Naps()
    async with ScriptedServer([Reply(status=503, repeat=True)]) as server:
        error = await fail(connect(server, RetryPolicy(attempts=3, sleep=naps)))
    assert (error.status, len(server.requests), len(naps.delays)) == (503, 3, 2)


@pytest.mark.parametrize(
    "reply", [Reply(status=400), Reply(status=401), Reply(status=404), Reply(status=501), PAGE]
)
async def test_failure_that_stays_is_not_tried_again(reply: Reply) -> None:
    async with ScriptedServer([reply]) as server:
        await fail(connect(server, RetryPolicy(sleep=Naps())))
    assert len(server.requests) == 1


@pytest.mark.parametrize("end", [Break(), Break("close"), Break("end")])
async def test_answer_that_breaks_off_is_never_asked_for_again(end: Break) -> None:
    async with ScriptedServer([["so", " far", end], "another"]) as server:
        seen, error = await read_until_error(connect(server, RetryPolicy(sleep=Naps())).stream(HELLO))
    assert seen == [TextDelta("so"), TextDelta(" far")]
    assert "interrupted after 2 pieces" in str(error)
    assert (len(server.requests), error.request_id) == (1, "scripted-1")


async def read_until_error(deltas: AsyncGenerator[Delta, None]) -> tuple[list[Delta], ModelError]:
    seen: list[Delta] = []
    try:
        async with aclosing(deltas):
            async for delta in deltas:
                seen.append(delta)
    except ModelError as error:
        return seen, error
    raise AssertionError("the stream did not fail")


async def test_connection_lost_after_the_end_does_no_harm() -> None:
    last = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    async with ScriptedServer([["all", last, Break()]]) as server:
        assert (await collect(connect(server)))[0] == TextDelta("all")


def limit(**seconds: float) -> TimeLimits:
    others = dict.fromkeys(("connect", "first_token", "idle", "total"), PATIENCE)
    return TimeLimits(**{**others, **seconds})


@pytest.mark.parametrize(
    ("limits", "steps", "words"),
    [
        (limit(first_token=0.05), [STALL], "No response from openai:m within 0.05 s"),
        (limit(first_token=0.05), [b": here\n\n", STALL], "No response from openai:m within 0.05 s"),
        (
            limit(idle=0.05),
            ["a", STALL],
            r"no more data within 0.05 s \(model.timeouts.idle\)",
        ),
        (
            limit(total=1),
            ["a", STALL],
            r"not complete within 1 s \(model.timeouts.total\)",
        ),
    ],
)
async def test_server_that_stalls_is_left_in_time(limits: TimeLimits, steps: list[Any], words: str) -> None:
    async with ScriptedServer([steps]) as server:
        with pytest.raises(TransientModelError, match=words):
            await collect(connect(server, limits=limits))
        assert await asyncio.to_thread(server.wait_idle)


async def test_slow_reader_is_not_taken_for_a_stalled_server(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, loop = Gate(), Gate(), asyncio.get_running_loop()
    async with (
        ScriptedServer([["a", first, "b", second, "c"]]) as server,
        aclosing(
            connect(server, limits=TimeLimits(idle=PATIENCE, total=9 * PATIENCE)).stream(HELLO)
        ) as deltas,
    ):
        for gate in (first, second):
            await anext(deltas)
            gate.open()
        assert await asyncio.to_thread(server.wait_idle)
        now = loop.time()
        monkeypatch.setattr(
            loop, "time", lambda: now + 2 * PATIENCE
        )  # the reader did something else for a while
        for _ in range(3):
            await asyncio.sleep(0)
        assert await anext(deltas) == TextDelta("c")


async def test_stall_is_noticed_when_the_clock_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    async with ScriptedServer([["a", STALL]]) as server:
        deltas = connect(server, limits=TimeLimits(idle=PATIENCE, total=9 * PATIENCE)).stream(HELLO)
        await anext(deltas)
        waiting = asyncio.ensure_future(anext(deltas))
        await asyncio.sleep(0)
        now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: now + 2 * PATIENCE)
        with pytest.raises(TransientModelError, match="no more data within 300 s"):
            await waiting


async def test_cancelled_reader_leaves_no_request_behind() -> None:
    gate = Gate()
    async with ScriptedServer([[gate]]) as server:
        task = asyncio.create_task(collect(connect(server)))
        await gate.reached.async_wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.wait_idle)


def refuse(status: int, message: str, code: str = "") -> Reply:
    return Reply(status=status, body={"error": {"message": message, "code": code}})


@pytest.mark.parametrize(
    ("reply", "message", "hint"),
    [
        (
            refuse(401, "bad key"),
            "rejected the API key (status 401): bad key",
            "model.providers.openai.api_key",
        ),
        (refuse(403, "no"), "rejected the API key (status 403)", "model.providers.openai.api_key"),
        (refuse(404, "Not Found"), "has no chat API", "/v1"),
        (refuse(400, "too long", "context_length_exceeded"), "context length exceeded", "Shorten"),
        (refuse(429, "no credit", "insufficient_quota"), "quota exceeded", "credit"),
        (refuse(429, "slow down"), "rate limit exceeded", "fewer requests"),
        (refuse(413, "big"), "too large", "smaller"),
        (Reply(status=302, headers={"location": "http://x"}), "redirects", "model.base_url"),
        (PAGE, "/v1 returned a web page (status 200)", "model.base_url"),
        (replace(PAGE, status=502), "returned a web page (status 502)", "later"),
        (
            Reply(headers={"content-type": "image/png"}, body=b"\x89PNG"),
            "returned 'image/png'",
            "OpenAI",
        ),
        (Reply(body="no json"), "invalid JSON 'no json'", ""),
        (refuse(418, "teapot"), "rejected the request (status 418): teapot", ""),
        (refuse(500, "out of memory"), "failed (status 500): out of memory", "Try again later"),
        (refuse(503, "busy", "UNAVAILABLE"), "is overloaded (status 503): busy", "model.fallbacks"),
        (
            refuse(400, "unsafe", "content_policy_violation"),
            "content of the request (status 400)",
            "Rephrase",
        ),
        (
            refuse(400, "filtered", "content_filter"),
            "content of the request (status 400): filtered",
            "Rephrase",
        ),
    ],
)
async def test_each_failure_says_what_happened_and_what_helps(reply: Reply, message: str, hint: str) -> None:
    async with ScriptedServer([reply]) as server:
        error = await fail(connect(server, api_key=KEY))
    assert message in error.message
    assert error.message.startswith("openai:m at http://127.0.0.1:")
    assert hint in (error.hint or "")
    assert error.provider == "openai"


async def test_missing_key_is_distinguished_from_a_wrong_one() -> None:
    async with ScriptedServer([], key="right") as server:
        assert "requires an API key, but none is set" in str(await fail(connect(server)))
        assert "rejected the API key" in str(await fail(connect(server, api_key="wrong")))


async def test_what_an_operator_can_repair_names_the_place() -> None:
    async with ScriptedServer([], key="right") as server:
        refused = await fail(connect(server, api_key="wrong"))
    async with ScriptedServer([refuse(404, "The model `m` does not exist", "model_not_found")]) as server:
        unknown = await fail(connect(server))
    async with ScriptedServer([refuse(418, "teapot")]) as server:
        other = await fail(connect(server))
    assert [report_error(error).get("remedy") for error in (refused, unknown, other)] == [
        "keys",
        "models",
        None,
    ]


@pytest.mark.parametrize(
    ("provider", "hint"), [("openai", "Is the server running"), ("ollama", "ollama serve")]
)
async def test_server_that_is_down_is_reported_with_its_address(provider: str, hint: str) -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        error = await fail(
            OpenAIRequester(Endpoint(provider=provider, model="m", base_url=address, retries=ONCE))
        )
    assert f"Cannot connect to {provider}:m at {address}: Connection refused" in error.message
    assert hint in str(error)


async def test_proxy_that_is_down_is_reported_without_its_password() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        proxy = f"http://me:{KEY}@127.0.0.1:{taken.getsockname()[1]}"
        endpoint = Endpoint(model="m", base_url="http://model.test/v1", proxy=proxy, retries=ONCE)
        error = await fail(OpenAIRequester(endpoint))
    assert "Cannot connect to openai:m at http://model.test/v1 through the proxy" in error.message
    assert KEY not in show(error)


async def test_proxy_of_the_environment_is_reported_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        port = proxy.sockets[0].getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://ann:geheim@127.0.0.1:{port}")
        error = await fail(
            OpenAIRequester(Endpoint(model="m", base_url="https://model.test/v1", retries=ONCE))
        )
    assert "Cannot connect to openai:m at https://model.test/v1 through the proxy: 407" in error.message
    assert "geheim" not in show(error)


async def test_https_address_of_an_http_server_is_reported() -> None:
    async with ScriptedServer([]) as server:
        error = await fail(connect(server, base_url=server.url.replace("http:", "https:")))
    assert "TLS connection to openai" in error.message
    assert "http rather than https" in (error.hint or "")


async def test_unknown_model_names_those_that_are_there() -> None:
    async with ScriptedServer(
        [refuse(404, "The model `scriptd` does not exist", "model_not_found")]
    ) as server:
        error = await fail(connect(server, model="scriptd"))
    assert "has no model 'scriptd'" in error.message
    assert error.hint == "Did you mean 'scripted'?"


async def test_model_without_tools_is_reported_and_remembered() -> None:
    tool = ToolSpec(name="f", description="", parameters={})
    async with ScriptedServer([refuse(400, "registry/gemma does not support tools")]) as server:
        requester = connect(server)
        assert requester.calls_tools
        error = await fail(requester, ModelRequest(messages=HELLO.messages, tools=[tool]))
    assert "does not support tools" in error.message
    assert "judge" in (error.hint or "")
    assert not requester.calls_tools


async def test_model_that_takes_no_forced_call_is_asked_without_and_keeps_its_tools() -> None:
    tool = ToolSpec(name="f", description="", parameters={})
    forced = ModelRequest(messages=HELLO.messages, tools=[tool], tool_choice="required")
    refusal = refuse(400, "tool_choice 'required' is incompatible with thinking enabled")
    async with ScriptedServer([refusal, "one", "two", "three"]) as server:
        requester = connect(server, provider="moonshot", thinking="high")
        for request in (forced, forced, replace(forced, tool_choice="none")):
            await collect(requester, request)
        assert requester.calls_tools
        bodies = [received.body for received in server.requests]
    assert [body.get("tool_choice") for body in bodies] == ["required", None, None, "none"]
    assert all(body["tools"] and body["thinking"] == {"type": "enabled"} for body in bodies)


async def test_model_that_refuses_tools_in_the_words_of_a_choice_has_none() -> None:
    tool = ToolSpec(name="f", description="", parameters={})
    forced = ModelRequest(messages=HELLO.messages, tools=[tool], tool_choice="required")
    refusal = refuse(400, "tools and tool_choice are not supported")
    async with ScriptedServer([refusal, refusal]) as server:
        requester = connect(server)
        assert "does not support tools" in (await fail(requester, forced)).message
    assert not requester.calls_tools


async def test_schema_that_must_be_followed_is_not_left_out() -> None:
    request = ModelRequest(messages=HELLO.messages, schema={"type": "object"})
    async with ScriptedServer([refuse(400, "response_format is unknown")]) as server:
        error = await fail(connect(server, structured="schema"), request)
    assert "response_format is unknown" in error.message


async def test_key_is_not_kept_in_the_error_of_a_server_that_speaks_no_http() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"HTTP/1.1 BROKEN\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        error = await fail(OpenAIRequester(Endpoint(model="m", base_url=address, api_key=KEY, retries=ONCE)))
    assert KEY not in show(error)


@pytest.mark.parametrize(
    "reply",
    [
        refuse(401, f"Incorrect API key provided: {KEY}", KEY),
        refuse(503, f"header was Bearer {KEY}"),
        Reply(status=500, body=f"<html>{KEY}</html>"),
        Reply(body=KEY),
        Reply(headers={"content-type": "image/png", "x-request-id": KEY}, body=f"\x00{KEY}"),
        [b'data: {"error": {"message": "' + KEY.encode() + b'"}}\n\n'],
        ["a", b"data: " + KEY.encode() + b"\n\n"],
        ["a", Break()],
        [Break()],
        [STALL],
    ],
)
async def test_key_is_shown_nowhere(reply: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    retries = RetryPolicy(attempts=2, sleep=Naps())
    async with ScriptedServer([reply, reply]) as server:
        limits = limit(first_token=0.05)
        requester = connect(server, retries, api_key=KEY, headers={"x-api-key": KEY}, limits=limits)
        error = await fail(requester)
    assert KEY not in "\n".join([repr(requester), repr(requester.endpoint), caplog.text, show(error)])


def show(error: ModelError) -> str:
    """Everything that a log, a debugger or a crash report could print of an error."""
    shown = [repr(error), str(error), repr(vars(error)), "".join(traceback.format_exception(error))]
    return "\n".join([*shown, repr(error.__cause__), repr(error.__context__)])


@pytest.mark.parametrize(
    ("endpoint", "hint"),
    [
        (Endpoint(model="m"), "Check the network of this machine"),
        (Endpoint(model="m", base_url="http://127.0.0.1:9/v1"), "Is the server running"),
        (Endpoint(provider="vllm", model="m", base_url="http://127.0.0.1:8000/v1"), "Is the server running"),
        (
            Endpoint(provider="bedrock", model="m", base_url="https://bedrock-runtime.mars.amazonaws.com"),
            "Check the region (AWS_REGION)",
        ),
    ],
)
def test_unreachable_service_is_a_matter_of_the_network_and_not_of_the_server(
    endpoint: Endpoint, hint: str
) -> None:
    place = ConnectionKey("host", 443, True, True, None, None, None)
    error = aiohttp.ClientConnectorError(place, OSError(111, "Connection refused"))
    assert hint in str(explain_connection(error, endpoint.build_failures()).hint)


@pytest.mark.parametrize(
    ("provider", "variable"), [("anthropic", "ANTHROPIC_API_KEY"), ("google", "GEMINI_API_KEY")]
)
async def test_rejected_key_is_named_by_its_provider_s_variable(provider: str, variable: str) -> None:
    async with ScriptedServer([{"status": 401}]) as server:
        error = await fail(connect(server, provider=provider, api_key=KEY))
    setting = f"model.providers.{provider}.api_key"
    assert error.hint == f"Set {variable}, DOVETAIL_API_KEY or {setting} to a valid key."


@pytest.mark.parametrize(
    ("provider", "api", "address", "kind"),
    [
        ("openai", None, "ends in /v1", "an OpenAI-compatible API"),
        ("mine", None, "ends in /v1", "an OpenAI-compatible API"),
        ("mine", "google", "ends in /v1beta", "the Gemini API"),
        (
            "mine",
            "bedrock",
            "is https://bedrock-runtime.<region>.amazonaws.com",
            "the runtime of Amazon Bedrock",
        ),
        ("groq", None, "ends in /openai/v1", "an OpenAI-compatible API"),
        ("groq", "anthropic", "ends in /v1", "Anthropic's Messages API"),
        ("deepseek", None, "is https://api.deepseek.com", "an OpenAI-compatible API"),
        ("azure", None, "is that of the resource", "an OpenAI-compatible API"),
        ("anthropic", None, "ends in /v1", "Anthropic's Messages API"),
        ("google", None, "ends in /v1beta", "the Gemini API"),
        (
            "bedrock",
            None,
            "is https://bedrock-runtime.<region>.amazonaws.com",
            "the runtime of Amazon Bedrock",
        ),
    ],
)
def test_hint_names_the_address_and_the_api_of_the_provider(
    provider: str, api: Any, address: str, kind: str
) -> None:
    failures = Endpoint(provider=provider, model="m", base_url="http://h", api=api).build_failures()
    pages = [failures.fail_page(200, b"<html>"), failures.fail_status(Refusal(404, "Not Found", ""), {})]
    setting = "model.providers.azure.base_url" if provider == "azure" else "model.base_url"
    for error in pages:
        assert f"Check {setting}: it usually {address}" in str(error.hint)
    assert f"the address of {kind}." in str(failures.fail_content_type("text/css", b"a {}").hint)


def test_hint_names_the_variable_that_holds_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://h")
    failures = Endpoint(provider="anthropic", model="m", base_url="http://h").build_failures()
    assert "Check model.base_url or ANTHROPIC_BASE_URL: it" in str(failures.fail_page(200, b"<").hint)
    with pytest.raises(ConfigError) as caught:
        Endpoint(provider="anthropic", model="m", base_url="h:80")
    assert "Set model.base_url or ANTHROPIC_BASE_URL to a full URL" in str(caught.value.hint)
