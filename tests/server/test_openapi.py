"""The OpenAPI document shows how each body, each answer and each error looks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
from fastapi import APIRouter, HTTPException

from dovetail import Kind, tool
from dovetail.app import Dovetail
from dovetail.server.app import create_app
from dovetail.server.openapi_catalog import JSON
from dovetail.server.openapi_examples import ANSWERS
from dovetail.tools.makers.browser import open_url
from serving import Serving, serve

ADDRESS = {"url": "https://a.example", "actionName": "Show"}


@tool(name="keep", kind=Kind.Write)
def keep_note(text: str) -> str:
    """Keep a note."""
    return text


def find_bodies(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas of all bodies by their routes; one that may be left out is taken as if it were there."""
    found: dict[str, dict[str, Any]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "requestBody" in operation:
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                found[f"{method} {path}"] = next(iter(schema.get("anyOf", [schema])))
    return found


def test_every_body_has_examples_and_they_are_valid(tmp_path: Path) -> None:
    document = create_app(Dovetail(workspace=tmp_path)).openapi()
    bodies = find_bodies(document)
    assert len(bodies) >= 9
    for route, schema in bodies.items():
        described = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        checker = jsonschema_rs.validator_for({**described, "components": document["components"]})
        assert described.get("examples"), f"{route} shows no example"
        for example in described["examples"]:
            checker.validate(example)


def list_defaults(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema that names a default, with its place."""
    if isinstance(value, dict):
        schema = cast(dict[str, Any], value)
        if "default" in schema and ("type" in schema or "anyOf" in schema):
            yield place, schema
        for key, below in schema.items():
            yield from list_defaults(below, f"{place}/{key}")
    elif isinstance(value, list):
        for number, below in enumerate(cast(list[Any], value)):
            yield from list_defaults(below, f"{place}/{number}")


def test_every_default_is_valid(tmp_path: Path) -> None:
    document = create_app(Dovetail(workspace=tmp_path)).openapi()
    for place, schema in list_defaults(document):
        checker = jsonschema_rs.validator_for({**schema, "components": document["components"]})
        assert checker.is_valid(schema["default"]), f"{place} refuses its own default"


async def test_every_route_with_a_body_describes_the_refusal_of_one_that_is_not_json(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        document = server.app and create_app(server.app).openapi()
        routes = [
            (method, path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if "requestBody" in operation
        ]
        assert len(routes) >= 9
        for method, path, operation in routes:
            refused = await server.client.request(method, path, content=b"{", headers={"content-type": JSON})
            assert str(refused.status_code) in operation["responses"], f"{method} {path}"
            assert "400" in operation["responses"]


def test_every_route_says_what_it_is_for(tmp_path: Path) -> None:
    document = create_app(Dovetail(workspace=tmp_path)).openapi()
    for methods in document["paths"].values():
        assert all(operation["description"] for operation in methods.values())


def test_every_route_shows_its_answer_and_errors_in_our_shape(tmp_path: Path) -> None:
    document = create_app(Dovetail(workspace=tmp_path)).openapi()
    schemas = document["components"]["schemas"]
    assert "HTTPValidationError" not in str(document)
    error = jsonschema_rs.validator_for(schemas["Error"])
    error.validate({"error": {"type": "x", "message": "y", "hint": "z"}})
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            good = {status for status in operation["responses"] if status < "300"}
            assert good, f"{method} {path} shows no answer"
            for status in good - {"204"}:
                for form in operation["responses"][status]["content"].values():
                    assert form["example"], f"{method} {path} shows no example"
            for status in set(operation["responses"]) - good:
                told = str(operation["responses"][status])
                assert "Error" in told or path == "/readyz", (method, path, status)


async def test_routes_of_ones_own_are_served_before_the_page_and_described(tmp_path: Path) -> None:
    router = APIRouter()

    @router.get("/api/mine/{number}", responses={200: {"description": "Twice as much."}})
    async def double(number: int) -> int:
        """Twice a number."""
        return 2 * number

    @router.get("/open/{number}")
    async def triple(number: int) -> int:
        """Three times a number."""
        return 3 * number

    async with serve(tmp_path, routers=[router]) as server:
        answers = [await server.get("/api/mine/4"), await server.get("/open/4")]
        wrong = await server.client.get("/api/mine/many")
        method = await server.client.post("/api/mine/4")
        document = await server.get("/openapi.json")
    assert answers == [8, 12]
    assert "got 'many'" in wrong.json()["error"]["message"]
    assert method.status_code == 405
    told = document["paths"]["/api/mine/{number}"]["get"]["responses"]
    assert told["200"]["description"] == "Twice as much."
    assert "HTTPValidationError" not in str(document)
    assert "Error" in str(document["paths"]["/open/{number}"]["get"]["responses"]["422"])


async def test_a_route_of_ones_own_says_itself_what_is_not_there(tmp_path: Path) -> None:
    router = APIRouter()

    @router.get("/mine/{name}")
    @router.post("/mine/{name}")
    async def find(name: str) -> None:
        raise HTTPException(404, "no such thing", {"x-mine": name})

    async with serve(tmp_path, routers=[router]) as server:
        answers = [await server.client.get("/mine/cat"), await server.client.post("/mine/cat")]
    for answer in answers:
        assert answer.status_code == 404
        assert answer.json()["error"]["message"] == "no such thing: /mine/cat"
        assert answer.headers["x-mine"] == "cat"


def compare(example: Any, real: Any, place: str) -> None:
    """See that an example has the fields of a real answer, as deep as both go."""
    if isinstance(example, dict) and isinstance(real, dict) and place.rpartition(".")[2] not in FREE:
        shown: dict[str, Any] = cast(dict[str, Any], example)
        found: dict[str, Any] = cast(dict[str, Any], real)
        assert set(shown) == set(found), place
        for name in shown:
            compare(shown[name], found[name], f"{place}.{name}")
    elif isinstance(example, list) and isinstance(real, list) and example and real:
        compare(example[0], real[0], f"{place}[]")


FREE = {"metadata", "options", "parameters", "payload", "args", "result", "models[]", "web"}
"""Fields that hold what users, tools and models make of them, and models, which tell of their download."""


async def allow_always(server: Serving) -> None:
    """Have a call asked about and always allow it."""
    async for chunk in server.stream("POST", "/api/v1/chat", json={"message": "Keep", "tab_id": "t"}):
        if chunk["type"] == "data-ask":
            always = {"approved": True, "remember": "always"}
            await server.client.post(f"/api/v1/asks/{chunk['data']['ask_id']}", json=always)


async def test_examples_have_the_fields_of_real_answers(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "haiku" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: haiku\ndescription: How to write a haiku.\n---\nFive, seven, five.\n")
    call = {"tool_calls": [{"call_id": "c1", "name": "open-url", "arguments": ADDRESS}]}
    compared: set[str] = set()
    keep = {"tool_calls": [{"call_id": "c2", "name": "keep", "arguments": {"text": "oak"}}]}
    replies = ["Hello to you.", "Hi.", call, "Opened.", keep, "Kept.", "Hi.", "Nothing new."]
    settings = {"mcp": {"servers": {"gone": {"command": "no-such-program-here"}}}}
    async with serve(tmp_path, replies, [open_url, keep_note], settings) as server:

        async def check(method: str, route: str, body: Any = None, **ids: str) -> Any:
            headers = {"accept": "application/json"}
            path = route.format(**ids)
            route = route.partition("?")[0]
            response = await server.client.request(method, path, json=body, headers=headers)
            forms = ANSWERS[f"{method} {route}"][str(response.status_code)]
            compared.add(f"{method} {route}")
            if not forms:
                assert response.content == b""
                return None
            compare(forms[JSON], response.json(), f"{method} {route}")
            return response.json()

        session, api = {"session_id": "s1"}, "/api/v1"
        answer = await check("POST", f"{api}/chat", {"message": "Hello", **session})
        view = await check("GET", f"{api}/sessions/{{session_id}}", **session)
        exported = await check("GET", f"{api}/sessions/{{session_id}}/export", **session)
        await check("GET", f"{api}/chat/{{session_id}}/stream", **session)
        await check("GET", f"{api}/runs/{{run_id}}", run_id=answer["run_id"])
        await check("GET", f"{api}/sessions")
        await server.client.patch(f"{api}/sessions/s1", json={"folder": "Wood"})
        poet = {"name": "poet", "text": "---\nname: poet\ndescription: Verses.\n---\nWrite."}
        await check("POST", f"{api}/sources/{{kind}}", poet, kind="agents")
        source, place = f"{api}/sources/{{kind}}/{{name}}", {"kind": "agents", "name": "poet"}
        await check("GET", source, **place)
        await check("PUT", source, {"text": poet["text"] + "\n"}, **place)
        await check("POST", f"{source}/check", {"text": ""}, **place)
        await check("DELETE", source, **place)
        await check("GET", f"{api}/folders")
        await check("PATCH", f"{api}/folders/{{name}}", {"name": None}, name="Wood")
        shares = f"{api}/sessions/{{session_id}}/shares"
        token = (await check("POST", shares, {"with_work": False}, **session))["token"]
        await check("GET", shares, **session)
        await check("GET", f"{api}/shared/{{token}}", token=token)
        await check("DELETE", f"{shares}/{{token}}", **session, token=token)
        await check("GET", f"{api}/sessions/{{session_id}}/messages", **session)
        started = await check("POST", f"{api}/chat", {"message": "Hi", "background": True, **session})
        await check("GET", f"{api}/sessions/{{session_id}}/children", **session)
        async for _ in server.stream("GET", f"{api}/runs/{started['run_id']}/events"):
            pass
        await check("PATCH", f"{api}/sessions/{{session_id}}", {"title": "Plans"}, **session)
        await check("POST", f"{api}/sessions", {"id": "s2"})
        await check("POST", f"{api}/sessions/import", exported)
        watched = (
            "runs",
            "runs/choices",
            "usage",
            "usage/today",
            "workers",
            "policy",
            "policy/file",
            "servers",
        )
        for name in ("tools", "agents", "skills", "prompts", "models", "extensions", *watched):
            await check("GET", f"{api}/{name}")
        await check("POST", f"{api}/servers/{{name}}/reconnect", name="gone")
        await check("GET", f"{api}/models/keys")
        await check("PUT", f"{api}/models/keys/{{provider}}", {"key": "the-long-key-4f2a"}, provider="openai")
        await check("POST", f"{api}/models/keys/{{provider}}/check", provider="openai")
        await check("DELETE", f"{api}/models/keys/{{provider}}", provider="openai")
        await check("POST", f"{api}/policy/try", {"tool": "keep", "arguments": {"text": "oak"}})
        await check("POST", f"{api}/policy/rules", {"action": "ask", "tool": "keep"})
        (rule, *_) = (await check("GET", f"{api}/policy"))["rules"]
        removed = await check("DELETE", f"{api}/policy/rules/{{rule_id}}", rule_id=rule["id"])
        new = {"text": "", "version": removed["version"]}
        await check("PUT", f"{api}/policy/file", new)
        await check("POST", f"{api}/extensions/reload")
        values = {"variables": {"subject": "joints"}}
        await check("POST", f"{api}/prompts/{{name}}/render", values, name="explain")
        await check("POST", f"{api}/tools/{{name}}/call", {"arguments": {}}, name="open-url")
        for route in ("/healthz", "/readyz", "/v1/models"):
            await check("GET", route)
        await check("GET", "/v1/models/{model}", model="master")
        messages = f"{api}/runs/{{run_id}}/messages"
        removal = f"{api}/sessions/{{session_id}}/inbox/{{message_id}}"
        async for chunk in server.stream("POST", f"{api}/chat", json={"message": "Open", "tab_id": "t"}):
            if chunk["type"] == "data-ask":
                ids, run_id = {"ask_id": chunk["data"]["ask_id"]}, chunk["data"]["run_id"]
                await check("GET", f"{api}/asks")
                sent = await check("POST", messages, {"message": "And?", "mode": "queue"}, run_id=run_id)
                place = {"session_id": sent["session_id"]}
                await check("GET", f"{api}/sessions/{{session_id}}/inbox", **place)
                await check("DELETE", removal, **place, message_id=sent["message_id"])
                await check("POST", f"{api}/asks/{{ask_id}}/claim", {"tab_id": "t"}, **ids)
                await check("POST", f"{api}/asks/{{ask_id}}", {"value": "opened"}, **ids)
        await check("GET", f"{api}/frames?url=http://127.0.0.1/&origin=http://chat.example")
        await allow_always(server)
        await check("GET", f"{api}/policy/modes")
        allowed = await check("GET", f"{api}/policy/remembered")
        undo = f"{api}/policy/remembered/{{rule_id}}"
        await check("DELETE", undo, rule_id=allowed["rules"][0]["id"])
        await check("POST", "/ai/tools/ack", {"toolCallId": "later", "status": "success"})
        asked = {"model": "master", "messages": [{"role": "user", "content": "Hi"}]}
        await check("POST", "/v1/chat/completions", asked)
        question = {"schedule": "0 9 1 1 *", "message": "What is new?"}
        schedule = {"schedule_id": (await check("POST", f"{api}/schedules", question))["id"]}
        await check("POST", f"{api}/schedules/{{schedule_id}}/run", **schedule)
        await check("GET", f"{api}/schedules")
        await check("GET", f"{api}/schedules/{{schedule_id}}", **schedule)
        await check("PATCH", f"{api}/schedules/{{schedule_id}}", {"title": "News"}, **schedule)
        await check("DELETE", f"{api}/schedules/{{schedule_id}}", **schedule)
        removal = f"{api}/sessions/{{session_id}}/messages/{{message_id}}"
        await check("DELETE", removal, **session, message_id=view["path"][0]["id"])
        await check("DELETE", f"{api}/sessions/{{session_id}}", **session)
        await check("DELETE", f"{api}/sign-in")
    streams_and_keys = {
        "GET /metrics",
        "GET /api/v1/artifacts/{artifact_id}",
        "GET /api/v1/feed",
        "GET /api/v1/runs/{run_id}/events",
        "POST /api/v1/runs/{run_id}/cancel",
        "POST /api/v1/sign-in",
        "POST /api/v1/servers/{name}/login",
        "DELETE /api/v1/servers/{name}/login",
        "POST /api/v1/models/pull",
        "DELETE /api/v1/models/pull",
        "POST /api/v1/models/check",
    }
    assert set(ANSWERS) - compared == streams_and_keys
