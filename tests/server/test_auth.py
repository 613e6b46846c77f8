"""Access control, and that no user sees the data of another."""

import asyncio
import re
from pathlib import Path

import pytest
from starlette.types import Message, Receive, Scope, Send

from dovetail.errors import ConfigError
from dovetail.server.auth import hash_key, parse_api_keys
from dovetail.server.middleware.body_limit import BodyLimit
from dovetail.server.middleware.cors import check_origins
from dovetail.server.middleware.rate_limit import Buckets
from dovetail.server.middleware.security import HEADERS, make_headers
from dovetail.settings import default_settings
from dovetail.settings.sections import ServerSettings
from serving import serve

RELOAD = "/api/v1/extensions/reload"
KEYS = {"server": {"api_keys": f"ann:one,bob:sha256:{hash_key('two')}"}}
ANN = {"authorization": "Bearer one"}
BOB = {"authorization": "Bearer two"}
JSON = {"content-type": "application/json"}


async def test_without_a_key_only_the_page_and_health_are_available(tmp_path: Path) -> None:
    async with serve(tmp_path, settings=KEYS) as server:
        for path in ("/api/v1/sessions", "/api/v1/tools", "/openapi.json"):
            response = await server.client.get(path)
            assert response.status_code == 401, path
            assert response.headers["www-authenticate"] == "Bearer"
        wrong = await server.client.get("/api/v1/sessions", headers={"authorization": "Bearer three"})
        assert wrong.status_code == 401
        for path in ("/healthz", "/readyz", "/"):
            assert (await server.client.get(path)).status_code == 200, path


async def test_a_local_server_answers_only_to_local_names_and_its_own_pages(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        foreign = await server.client.get("/api/v1/sessions", headers={"host": "evil.example"})
        assert foreign.status_code == 403
        headers = {"origin": "https://evil.example"}
        crossing = await server.client.post("/api/v1/chat", json={"message": "Hi"}, headers=headers)
        assert crossing.status_code == 403
        for broken in ({"host": "[x"}, {"origin": "http://[x"}):
            refused = await server.client.post("/api/v1/sessions", headers=broken)
            assert refused.status_code == 403, broken
        own = {"origin": server.address, "accept": "application/json"}
        allowed = await server.client.post("/api/v1/chat", json={"message": "Hi"}, headers=own)
        assert allowed.status_code == 200


@pytest.mark.parametrize("name", ["forwarded", "via", "x-real-ip", "x-forwarded-for", "x-forwarded-host"])
async def test_a_proxied_request_is_remote(tmp_path: Path, name: str) -> None:
    headers = {name: "127.0.0.1"}
    async with serve(tmp_path) as server:
        for path in ("/", "/api/v1/sessions", "/metrics"):
            refused = await server.client.get(path, headers=headers)
            assert refused.status_code == 403, path
        told = refused.json()["error"]
        assert f"came through a proxy: it has the header '{name}'" in told["message"]
        assert "DOVETAIL_API_KEYS" in told["hint"]
        assert (await server.client.get("/healthz", headers=headers)).status_code == 200


async def test_a_proxy_that_says_nothing_of_itself_is_known_by_its_old_protocol(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        host, port = server.address.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /api/v1/sessions HTTP/1.0\r\nhost: {host}:{port}\r\n\r\n".encode())
        assert b"it speaks HTTP/1.0" in await reader.read()
        writer.close()
        await writer.wait_closed()


async def test_a_reload_without_an_admin_token_is_for_this_machine_alone(tmp_path: Path) -> None:
    reload = "/api/v1/extensions/reload"
    async with serve(tmp_path, is_open=True) as server:
        assert (await server.client.post(reload)).status_code == 200
        for stranger in ({"x-forwarded-for": "203.0.113.7"}, {"host": "chat.example"}):
            refused = await server.client.post(reload, headers=stranger)
            assert refused.status_code == 403
            assert refused.json()["error"]["hint"].startswith("Set EXTENSIONS_ADMIN_TOKEN on the server")


async def test_the_admin_token_guards_a_reload(tmp_path: Path) -> None:
    async with serve(tmp_path, settings={"server": {"admin_token": "admin"}}) as server:
        reload = "/api/v1/extensions/reload"
        assert (await server.client.post(reload)).status_code == 403
        assert (await server.client.post(reload, headers={"x-admin-token": "wrong"})).status_code == 403
        response = await server.client.post(reload, headers={"x-admin-token": "admin"})
        assert "loaded_extensions" in response.json()


async def test_a_body_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        host, port = server.address.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = f"POST /api/v1/chat HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-length: 30000000\r\n\r\n"
        writer.write(head.encode())
        assert b" 413 " in await reader.readline()
        writer.close()
        await writer.wait_closed()


async def test_a_page_signs_in_once_and_is_known_until_it_signs_out(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."], settings=KEYS) as server:
        client, own = server.client, {"origin": server.address}
        wrong = await client.post("/api/v1/sign-in", json={"key": "three"}, headers=own)
        assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)
        signed_in = await client.post("/api/v1/sign-in", json={"key": "two"}, headers=own)
        assert signed_in.json() == {"owner": "bob"}
        cookie = signed_in.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert "Secure" not in cookie
        encrypted = {**own, "x-forwarded-proto": "https"}
        over_tls = await client.post("/api/v1/sign-in", json={"key": "one"}, headers=encrypted)
        assert over_tls.headers["set-cookie"].endswith("; Secure")
        client.cookies.clear()
        await client.post("/api/v1/sign-in", json={"key": "two"}, headers=own)
        asked = {**own, "accept": "application/json"}
        body = {"message": "Hi", "session_id": "s"}
        assert (await client.post("/api/v1/chat", json=body, headers=asked)).status_code == 200
        assert (await client.get("/api/v1/sessions/s/export")).status_code == 200
        assert (await client.get("/api/v1/sessions/s", headers=ANN)).status_code == 404
        assert (await client.delete("/api/v1/sign-in", headers=own)).status_code == 204
        assert (await client.get("/api/v1/sessions/s")).status_code == 401


async def test_pages_of_other_sites_cannot_use_the_cookie(tmp_path: Path) -> None:
    foreign = {"origin": "https://evil.example"}
    async with serve(tmp_path, settings=KEYS) as server:
        body = {"key": "two"}
        assert (await server.client.post("/api/v1/sign-in", json=body, headers=foreign)).status_code == 403
        await server.client.post("/api/v1/sign-in", json=body)
        assert (await server.client.post("/api/v1/sessions", json={}, headers=foreign)).status_code == 403
        with_key = {**foreign, **ANN}
        assert (await server.client.post("/api/v1/sessions", json={}, headers=with_key)).status_code == 201


@pytest.mark.parametrize("cookie", ["dovetail_key=", "dovetail_key=*", "dovetail_key=gICA", "other=dHdv"])
async def test_a_cookie_that_holds_no_key_is_none(tmp_path: Path, cookie: str) -> None:
    async with serve(tmp_path, settings=KEYS) as server:
        assert (await server.client.get("/api/v1/tools", headers={"cookie": cookie})).status_code == 401


async def test_sign_in_is_disabled_without_keys(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        refused = await server.client.post("/api/v1/sign-in", json={"key": "x"})
        assert (refused.status_code, "no API keys" in refused.text) == (404, True)


async def test_a_large_body_is_read_to_its_end_before_it_is_refused() -> None:
    """A proxy that is still sending when the answer comes resets its client's connection."""
    chunks = [{"type": "http.request", "body": b"0123456789", "more_body": number < 2} for number in range(3)]
    left_at_answer: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("the body went through")

    async def receive() -> Message:
        return chunks.pop(0)

    async def send(message: Message) -> None:
        left_at_answer.append(len(chunks))

    scope = {"type": "http", "path": "/", "headers": [(b"content-length", b"30")]}
    await BodyLimit(app, limit=20)(scope, receive, send)
    assert left_at_answer[0] == 0


def test_a_key_without_a_name_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match="DOVETAIL_API_KEYS: entry 2 must have the form name:key"):
        parse_api_keys("ann:a-long-random-key, justakey")
    assert parse_api_keys("") == {}


@pytest.mark.parametrize("hashed", ["zz", "a" * 63, "a" * 65, ""])
def test_a_hash_that_no_key_can_have_is_a_clear_error(hashed: str) -> None:
    with pytest.raises(ConfigError, match="The SHA-256 hash for key 'ann' must be 64 hex digits"):
        parse_api_keys(f"ann:sha256:{hashed}")
    assert parse_api_keys(f"ann:sha256:{hash_key('x').upper()}") == {hash_key("x"): "ann"}


def test_two_names_cannot_have_one_key() -> None:
    with pytest.raises(ConfigError, match="'ann' and 'bob' have the same key"):
        parse_api_keys(f"ann:key, bob:sha256:{hash_key('key')}")


def test_a_short_key_is_reported_without_showing_it(caplog: pytest.LogCaptureFixture) -> None:
    parse_api_keys("ann:tiny, bob:a-long-random-key")
    assert caplog.messages == ["the API key of 'ann' is short and could be guessed"]


async def test_pages_of_listed_origins_may_use_a_local_server(tmp_path: Path) -> None:
    page = "https://app.example"
    settings = {"server": {"cors_origins": f"http://localhost:3000, {page}/"}}
    async with serve(tmp_path, ["Hello."], settings=settings) as server:
        asked = {"origin": page, "access-control-request-method": "POST"}
        asked["access-control-request-headers"] = "content-type,authorization"
        preflight = await server.client.options("/api/v1/chat", headers=asked)
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == page
        headers = {"origin": page, "accept": "application/json"}
        answer = await server.client.post("/api/v1/chat", json={"message": "Hi"}, headers=headers)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, page)
        other = {"origin": "https://evil.example"}
        refused = await server.client.post("/api/v1/chat", json={"message": "Hi"}, headers=other)
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers


async def test_a_refused_preflight_names_the_origin_and_the_setting(tmp_path: Path) -> None:
    page = "https://app.example"
    async with serve(tmp_path, settings={"server": {"cors_origins": [page]}}) as server:

        async def ask(origin: str, method: str) -> tuple[int, dict[str, str]]:
            asked = {"origin": origin, "access-control-request-method": method}
            answer = await server.client.options("/api/v1/chat", headers=asked)
            return answer.status_code, answer.json()["error"]

        status, error = await ask("https://evil.example", "POST")
        assert (status, error["type"]) == (400, "access_error")
        assert error["message"] == "Pages of 'https://evil.example' may not use this server."
        assert "DOVETAIL_CORS_ORIGINS" in error["hint"]
        status, error = await ask(page, "PUT")
        assert (status, "may not send PUT with" in error["message"]) == (400, True)
        assert "Methods: GET, POST, PATCH, DELETE." in error["hint"]


async def test_a_preflight_needs_no_key(tmp_path: Path) -> None:
    settings = {"server": {**KEYS["server"], "cors_origins": ["*"]}}
    async with serve(tmp_path, settings=settings) as server:
        asked = {"origin": "https://x.example", "access-control-request-method": "GET"}
        assert (await server.client.options("/api/v1/sessions", headers=asked)).status_code == 200
        plain = {"origin": "https://x.example"}
        refused = await server.client.get("/api/v1/sessions", headers=plain)
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, "*")


def test_origins_that_make_no_sense_are_clear_errors() -> None:
    with pytest.raises(ConfigError, match=r"server\.cors_origins: invalid origin 'app\.example'"):
        check_origins(["app.example"], has_keys=True)
    with pytest.raises(ConfigError, match="requires API keys"):
        check_origins(["*"], has_keys=False)


async def test_an_owner_over_the_rate_limit_gets_a_retry_after(tmp_path: Path) -> None:
    settings = {"server": {**KEYS["server"], "rate_limit": 2}}
    async with serve(tmp_path, settings=settings) as server:
        for _ in range(2):
            assert (await server.client.get("/api/v1/tools", headers=ANN)).status_code == 200
        refused = await server.client.get("/api/v1/tools", headers=ANN)
        assert (refused.status_code, refused.json()["error"]["type"]) == (429, "rate_limited")
        assert 1 <= int(refused.headers["retry-after"]) <= 30
        compatible = await server.client.get("/v1/models", headers=ANN)
        assert compatible.json()["error"]["type"] == "rate_limit_error"
        assert (await server.client.get("/api/v1/tools", headers=BOB)).status_code == 200
        assert (await server.client.get("/", headers=ANN)).status_code == 200


async def test_wrong_keys_are_limited_and_right_ones_still_come_in(tmp_path: Path) -> None:
    async with serve(tmp_path, settings=KEYS) as server:
        for number in range(30):
            guess = {"authorization": f"Bearer guess-{number}"}
            assert (await server.client.get("/api/v1/tools", headers=guess)).status_code == 401
        for headers in ({"authorization": "Bearer guess-31"}, {"authorization": "Bearer guess-32"}):
            refused = await server.client.get("/api/v1/tools", headers=headers)
            assert (refused.status_code, refused.json()["error"]["type"]) == (429, "rate_limited")
            assert "More than 30 wrong API keys in a minute" in refused.json()["error"]["message"]
            assert 1 <= int(refused.headers["retry-after"]) <= 3
        assert (await server.client.get("/api/v1/tools")).status_code == 401
        assert (await server.client.get("/api/v1/tools", headers=ANN)).status_code == 200


async def test_without_keys_addresses_are_counted_and_a_local_server_counts_none(tmp_path: Path) -> None:
    settings = {"server": {"rate_limit": 1}}
    for is_open, status in ((True, 429), (False, 200)):
        async with serve(tmp_path, settings=settings, is_open=is_open) as server:
            await server.client.get("/api/v1/tools")
            assert (await server.client.get("/api/v1/tools")).status_code == status


def test_a_bucket_fills_up_again() -> None:
    now = 0.0
    buckets = Buckets(60, lambda: now)
    assert [buckets.take("ann") for _ in range(60)] == [0.0] * 60
    assert buckets.take("ann") == pytest.approx(1.0)
    now = 0.5
    assert buckets.take("ann") == pytest.approx(0.5)
    now = 1.0
    assert (buckets.take("ann"), buckets.take("bob")) == (0.0, 0.0)
    assert buckets.take("ann") > 0


def test_callers_of_long_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.server.middleware.rate_limit._MOST_CALLERS", 10)
    now = 0.0
    buckets = Buckets(60, lambda: now)
    for number in range(50):
        buckets.take(f"caller {number}")
        assert len(buckets._left) <= 10
    now = 60.0
    buckets.take("new")
    assert len(buckets._left) == 1


@pytest.mark.parametrize("value", ["many", "-1"])
def test_a_limit_that_is_not_a_number_is_a_clear_error(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_RATE_LIMIT", value)
    with pytest.raises(ConfigError, match=rf"DOVETAIL_RATE_LIMIT \(server\.rate_limit\) must be .*{value}"):
        default_settings()
    monkeypatch.setenv("DOVETAIL_RATE_LIMIT", "5")
    assert default_settings().section(ServerSettings).rate_limit == 5


async def test_every_answer_makes_browsers_careful(tmp_path: Path) -> None:
    async with serve(tmp_path, settings=KEYS) as server:
        for path in ("/", "/healthz", "/api/v1/tools", "/api/v1/nothing", "/nothing.js"):
            response = await server.client.get(path)
            assert HEADERS.items() <= dict(response.headers).items(), path


async def test_a_team_can_show_the_page_in_its_own(tmp_path: Path) -> None:
    settings = {"server": {"frame_ancestors": "self, https://app.example"}}
    async with serve(tmp_path, settings=settings) as server:
        headers = (await server.client.get("/")).headers
    assert headers["content-security-policy"].endswith("; frame-ancestors 'self' https://app.example")
    assert "x-frame-options" not in headers


@pytest.mark.parametrize(
    "given", ["app.example", "https://app.example/page", "none, self", "https://a.example;"]
)
def test_an_origin_that_no_browser_takes_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match=r"server\.frame_ancestors: invalid origin"):
        make_headers(given.split(", "))


@pytest.mark.parametrize("token", ["pässwörd-ünd-mehr", "密码-密码-密码", "plain-token"])
async def test_an_admin_token_may_have_any_letters(tmp_path: Path, token: str) -> None:
    async with serve(tmp_path, settings={"server": {"admin_token": token}}) as server:
        headers = [(b"x-admin-token", token.encode())]
        assert (await server.client.post(RELOAD, headers=headers)).status_code == 200
        wrong = [(b"x-admin-token", f"{token}x".encode())]
        assert (await server.client.post(RELOAD, headers=wrong)).status_code == 403


async def test_with_api_keys_the_admin_token_alone_is_enough_for_a_reload(tmp_path: Path) -> None:
    settings = {"server": {**KEYS["server"], "admin_token": "admin"}}
    async with serve(tmp_path, settings=settings) as server:
        for headers, status in (
            ({"x-admin-token": "admin"}, 200),
            ({"x-admin-token": "admin", "authorization": "Bearer one"}, 200),
            ({"x-admin-token": "wrong"}, 403),
            ({"authorization": "Bearer one"}, 403),
            ({}, 401),
        ):
            assert (await server.client.post(RELOAD, headers=headers)).status_code == status
        other = await server.client.get("/api/v1/tools", headers={"x-admin-token": "admin"})
        assert other.status_code == 401


async def test_with_api_keys_and_no_admin_token_the_header_opens_nothing(tmp_path: Path) -> None:
    async with serve(tmp_path, settings=KEYS) as server:
        assert (await server.client.post(RELOAD, headers={"x-admin-token": ""})).status_code == 401


async def test_without_an_admin_token_no_api_key_is_the_operator(tmp_path: Path) -> None:
    rule = {"action": "allow", "tool": "run_shell_command"}
    async with serve(tmp_path, settings=KEYS) as server:
        for path, body in (("policy/rules", rule), ("extensions/reload", None)):
            refused = await server.client.post(f"/api/v1/{path}", json=body, headers=ANN)
            assert refused.status_code == 403
            assert "EXTENSIONS_ADMIN_TOKEN" in refused.json()["error"]["hint"]
        assert not (tmp_path / "policy.toml").exists()
    async with serve(tmp_path) as server:
        assert (await server.client.post("/api/v1/policy/rules", json=rule)).status_code == 201


@pytest.mark.parametrize("content", [b"{}", b"[", b'{"key": 1, "name": 2, "text": 3, "action": 4}', b""])
async def test_routes_of_the_admin_check_the_token_before_the_body(tmp_path: Path, content: bytes) -> None:
    async with serve(tmp_path, settings={"server": {"admin_token": "the-admin-token"}}) as server:
        paths = (await server.get("/openapi.json"))["paths"]
        seen = 0
        for path, operations in paths.items():
            for method, operation in operations.items():
                if "needs the admin" not in operation.get("description", ""):
                    continue
                seen += 1
                refused = await server.client.request(
                    method, re.sub(r"\{\w+\}", "agents", path), content=content, headers=JSON
                )
                assert refused.status_code == 403, f"{method} {path}: {refused.text}"
        assert seen > 15


@pytest.mark.parametrize("path", ["callback/", "callbacks", "callback/x", "callback%2f.."])
async def test_only_the_callback_of_a_login_itself_needs_no_key(tmp_path: Path, path: str) -> None:
    async with serve(tmp_path, settings=KEYS) as server:
        assert (await server.client.get("/api/v1/servers/callback")).status_code == 404
        assert (await server.client.get(f"/api/v1/servers/{path}")).status_code == 401
