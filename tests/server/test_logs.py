"""Log lines: their ids, their two forms, and no secrets."""

import asyncio
import io
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dovetail.data.secrets import SecretMask
from dovetail.errors import ConfigError
from dovetail.events.call import Kind
from dovetail.server.logs import write_logs
from dovetail.settings import as_settings
from dovetail.tools.tool import Tool, ToolContext
from patience import PATIENCE
from serving import serve


def make_tool() -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> str:
        logging.getLogger("dovetail.mine").warning("I see %s", args["where"])
        return "seen"

    schema = {"type": "object", "properties": {"where": {"type": "string"}}, "required": ["where"]}
    return Tool(name="look", description="Look.", parameters=schema, execute=execute, kind=Kind.Read)


async def test_lines_of_a_chat_carry_the_ids_of_request_session_run_and_call(tmp_path: Path) -> None:
    stream = io.StringIO()
    settings = {"server": {"log_format": "json"}}
    nearly_json = "{'where': 'there',}"
    call = {"tool_calls": [{"call_id": "c", "name": "look", "arguments": nearly_json}]}
    with write_logs(as_settings(settings), stream):
        async with serve(tmp_path, [call, "Done."], [make_tool()], settings=settings) as server:
            server.client.headers["x-request-id"] = "my-request"
            chunks = await server.chat("Look")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    run_id = chunks[0]["messageMetadata"]["run_id"]
    ids = {"request_id": "my-request", "owner": "local", "session_id": "s", "run_id": run_id, "call_id": "c"}
    [repair] = [line for line in lines if "[tool-repair]" in line["message"]]
    [own] = [line for line in lines if line["logger"] == "dovetail.mine"]
    [audit] = [line for line in lines if line["logger"] == "dovetail.audit"]
    for line in (repair, own, audit):
        assert line | ids == line
    assert own["message"] == "I see there"
    assert (audit["tool"], audit["status"]) == ("look", "ok")
    [end] = [line for line in lines if line["message"] == "run ended"]
    assert (end["reason"], end["run_id"], end["agent"]) == ("goal", run_id, "master")
    [access] = [line for line in lines if line["logger"] == "dovetail.access" and line["level"] == "info"]
    assert (access["message"], access["status"], access["request_id"]) == (
        "POST /api/v1/chat",
        200,
        "my-request",
    )


async def test_the_line_of_a_question_names_its_tool(tmp_path: Path) -> None:
    stream = io.StringIO()
    call = {"tool_calls": [{"call_id": "c", "name": "look", "arguments": '{"where": "there"}'}]}
    settings = {"server": {"log_format": "json"}}
    with write_logs(as_settings(settings), stream):
        tool = replace(make_tool(), kind=Kind.Write)
        async with serve(tmp_path, [call, "Done."], [tool], settings=settings) as server:
            chat = asyncio.create_task(server.chat("Look"))
            async with asyncio.timeout(PATIENCE):
                while not (asks := (await server.get("/api/v1/asks"))["asks"]):
                    await asyncio.wait([chat], timeout=0.01)
            await server.client.post(f"/api/v1/asks/{asks[0]['id']}", json={"approved": False})
            await chat
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    [asked] = [line for line in lines if line["message"] == "ask"]
    assert (asked["tool"], asked["ask_id"], asked["kind"]) == ("look", asks[0]["id"], "approval")


def test_a_line_of_text_is_one_line_of_keys_and_values() -> None:
    stream = io.StringIO()
    with write_logs(as_settings({}), stream):
        logging.getLogger("dovetail.x").info("a b\nc", extra={"fields": {"n": 1, "empty": ""}})
        logging.getLogger("dovetail.x").debug("too fine")
    [line] = stream.getvalue().splitlines()
    assert line.split(" ", 1)[1] == r'level=info logger=dovetail.x message="a b\nc" n=1 empty=""'


def test_a_failure_brings_its_traceback() -> None:
    stream = io.StringIO()
    with write_logs(as_settings({"server": {"log_format": "json"}}), stream):
        try:
            raise ValueError("broken")
        except ValueError:
            logging.getLogger("dovetail.x").exception("it failed")
    assert "ValueError: broken" in json.loads(stream.getvalue())["exception"]


def test_a_traceback_has_no_characters_that_steer_a_terminal() -> None:
    stream = io.StringIO()
    with write_logs(as_settings({}), stream):
        error = ValueError("one\x1b[2J\x9b\n\u202etwo\rthree")
        logging.getLogger("dovetail.x").error("it failed", exc_info=error)
    assert stream.getvalue().splitlines()[1:] == [
        r"    ValueError: one\x1b[2J\x9b",
        r"    \u202etwo\rthree",
    ]


def test_a_warning_of_an_extension_folder_is_a_line_without_secrets() -> None:
    stream = io.StringIO()
    with write_logs(as_settings({"server": {"admin_token": "S-of-the-admin"}}), stream):
        logging.getLogger("leaky").warning("the token is %s\n\x1b[2Jforged", "S-of-the-admin")
        logging.getLogger("leaky").info("too fine")
        logging.getLogger("dovetail.x").warning("once")
    logging.getLogger("leaky").warning("after the server")
    [leaky, own] = stream.getvalue().splitlines()
    assert leaky.split(" ", 1)[1] == (
        r'level=warning logger=leaky message="the token is ***\n\u001b[2Jforged"'
    )
    assert own.endswith("logger=dovetail.x message=once")


@pytest.mark.parametrize("style", ["text", "json"])
def test_no_secret_gets_into_a_line(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKER_TOKEN", "trackersecret")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "entratoken")
    monkeypatch.setenv("OLLAMA_HOST", "http://me:gatesecret@box.example")
    secrets = {
        "server": {"log_format": style, "admin_token": "adminsecret", "api_keys": "ann:key-one,bob:key-two"},
        "store": {"url": "postgresql://me:pass%40word@host/name"},
        "model": {
            "api_key": "modelsecret",
            "headers": {"x-team": "headersecret"},
            "proxy": "http://me:proxysecret@proxy.example",
            "providers": {"other": {"base_url": "http://o", "api_key": "othersecret"}},
        },
        "mcp": {
            "servers": {
                "tracker": {"url": "http://t", "headers": {"authorization": "Bearer ${TRACKER_TOKEN}"}},
                "files": {"command": "files", "env": {"API_KEY": "filessecret", "MODE": "read-only"}},
            }
        },
    }
    told = (
        "adminsecret key-one key-two pass%40word pass@word modelsecret headersecret othersecret "
        "proxysecret trackersecret filessecret entratoken gatesecret bWU6Z2F0ZXNlY3JldA== "
        "Authorization: Bearer abc.def sk-abcdefgh12345"
    )
    stream = io.StringIO()
    with write_logs(as_settings(secrets), stream):
        logging.getLogger("dovetail.x").info("%s", told, extra={"fields": {"url": "http://x?k=othersecret"}})
    for secret in (*told.split()[:14], "abc.def", "sk-abcdefgh12345"):
        assert secret not in stream.getvalue(), secret
    assert "Bearer ***" in stream.getvalue()
    assert SecretMask.of(as_settings(secrets)).apply("read-only") == "read-only"


def test_short_values_tear_no_text_apart() -> None:
    assert SecretMask.for_values(["a", ""]).apply("a banana") == "a banana"


def test_an_unknown_format_is_a_clear_error() -> None:
    with (
        pytest.raises(ConfigError, match=r"Unknown server\.log_format 'xml'\. Expected one of: text, json"),
        write_logs(as_settings({"server": {"log_format": "xml"}})),
    ):
        pass
