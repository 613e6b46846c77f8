"""`dovetail runs`: runs of the database of a workspace are listed and shown; a server cancels them."""

import asyncio
import json
from pathlib import Path

import pytest

from command_line import run
from dovetail.cli.remote import find_url
from dovetail.tools.makers.function import make_tool
from serving import Serving, serve

CALL = {"tool_calls": [{"call_id": "c", "name": "wait"}]}


async def start(server: Serving) -> str:
    """Send a message whose answer waits; return its run."""
    async for chunk in server.stream("POST", "/api/v1/chat", json={"message": "Wait", "session_id": "s"}):
        return chunk["messageMetadata"]["run_id"]
    raise AssertionError("no stream")


async def command(*words: object) -> int:
    return await asyncio.to_thread(run, "runs", *words)


async def test_run_is_listed_cancelled_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def wait() -> str:
        """Wait without end."""
        return await asyncio.Future()

    at = ("--workspace", tmp_path)
    async with serve(tmp_path, [CALL], [make_tool(wait)], {"policy": {"mode": "yolo"}}) as server:
        run_id = await start(server)
        assert await command("list", *at) == 0
        listed = capsys.readouterr().out
        assert await command("cancel", run_id, "--url", server.address) == 0
        async for _ in server.stream("GET", f"/api/v1/runs/{run_id}/events"):
            pass
        again = await command("cancel", run_id, "--url", server.address)
        told = capsys.readouterr()
        assert await command("list", *at) == 0
        after = capsys.readouterr().out
        assert await command("show", run_id, *at) == 0
        shown = capsys.readouterr().out
    assert all(word in listed for word in (run_id, "master", "working"))
    assert "was asked to stop" in told.out
    assert again == 1
    assert "has already ended: cancelled" in told.err
    assert "No runs in progress" in after
    assert f"Run: {run_id}\nSession: s\nOwner: local\nAgent: master\n" in shown
    assert "State: cancelled\n" in shown


async def test_result_of_an_ended_run_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with serve(tmp_path, ["Seven oaks."]) as server:
        chunks = await server.chat("How many?")
        run_id = chunks[0]["messageMetadata"]["run_id"]
    assert await command("list", "--all", "--session", "s", "--workspace", tmp_path) == 0
    listed = capsys.readouterr().out
    assert run_id in listed
    assert "  done  " in listed
    assert await command("show", run_id, "--workspace", tmp_path) == 0
    assert capsys.readouterr().out.endswith("Seven oaks.\n")
    assert await command("show", "run_x", "--workspace", tmp_path) == 1
    assert "Run 'run_x' not found." in capsys.readouterr().err


async def test_a_waiting_run_is_shown_with_what_it_waits_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write = {
        "tool_calls": [{"call_id": "c", "name": "write_file", "arguments": {"path": "a", "content": "b"}}]
    }
    questions = {"questions": [{"question": "Oak?"}]}
    ask = {"tool_calls": [{"call_id": "d", "name": "ask_user", "arguments": questions}]}
    at, seen = ("--workspace", tmp_path), list[tuple[str, str]]()
    async with serve(tmp_path, [write, ask, "Done."]) as server:
        body = {"message": "Go", "session_id": "s"}
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            if chunk["type"] != "data-ask":
                continue
            run_id, ask_id = chunk["data"]["run_id"], chunk["id"]
            assert await command("show", run_id, *at) == 0
            seen.append((ask_id, capsys.readouterr().out))
            assert await command("show", run_id, "--json", *at) == 0
            assert [each["ask_id"] for each in json.loads(capsys.readouterr().out)["asks"]] == [ask_id]
            await server.client.post(f"/api/v1/asks/{ask_id}", json={"approved": len(seen) == 1})
        assert await command("show", seen[0][1].split()[1], *at) == 0
        assert "Waits for" not in capsys.readouterr().out
    (first, approval), (second, question) = seen
    assert f"Waits for: the approval of write_file ({first}, POST /api/v1/asks/{first})\n" in approval
    assert f"Waits for: an answer to ask_user ({second}, POST /api/v1/asks/{second})\n" in question


async def test_cancel_without_a_server_says_how_to_start_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert await command("cancel", "run_x", "--url", "http://127.0.0.1:9") == 1
    error = capsys.readouterr().err
    assert "No server responds at http://127.0.0.1:9: [Errno 111] Connection refused." in error
    assert "Start one with `dovetail serve`" in error


async def test_message_to_an_ended_run_continues_its_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serve(tmp_path, ["Seven oaks.", "Two elms."]) as server:
        chunks = await server.chat("How many?")
        run_id = chunks[0]["messageMetadata"]["run_id"]
        assert await command("message", run_id, "and", "elms?", "--url", server.address) == 0
        told = capsys.readouterr().out
        view = await server.get("/api/v1/sessions/s")
        newest = view["run_id"] or view["path"][-1]["metadata"]["run_id"]
        async for _ in server.stream("GET", f"/api/v1/runs/{newest}/events"):
            pass
        assert server.model.requests[-1].messages[-1]["content"] == "and elms?"
    assert told == f"The message to run {run_id!r} will be answered in a new run.\n"


@pytest.mark.parametrize(
    ("host", "port", "url"),
    [
        ("", "", "http://127.0.0.1:8000"),
        ("0.0.0.0", "9001", "http://127.0.0.1:9001"),
        ("::1", "9001", "http://[::1]:9001"),
        ("inner.example", "", "http://inner.example:8000"),
    ],
)
def test_server_is_called_where_its_own_variables_say(
    monkeypatch: pytest.MonkeyPatch, host: str, port: str, url: str
) -> None:
    monkeypatch.setenv("HOST", host)
    monkeypatch.setenv("PORT", port)
    assert find_url() == url


async def test_cancel_reaches_the_server_at_the_port_that_serve_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serve(tmp_path) as server:
        monkeypatch.setenv("HOST", "")
        monkeypatch.setenv("PORT", server.address.rpartition(":")[2])
        assert await command("cancel", "run_x") == 1
    assert "The server responded with HTTP 404: Run 'run_x' not found." in capsys.readouterr().err


async def test_runs_of_several_owners_are_listed_with_their_owners(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"server": {"api_keys": "ann:ann-key,bob:bob-key"}}
    async with serve(tmp_path, ["One.", "Two."], settings=settings) as server:
        for owner in ("ann", "bob"):
            server.client.headers["authorization"] = f"Bearer {owner}-key"
            await server.chat("Hello", f"of-{owner}")
    assert await command("list", "--all", "--workspace", tmp_path) == 0
    head, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head[1:4] == ["SESSION", "OWNER", "AGENT"]
    assert sorted(row[1:4] for row in rows) == [["of-ann", "ann", "master"], ["of-bob", "bob", "master"]]
    assert await command("list", "--all", "--owner", "bob", "--json", "--workspace", tmp_path) == 0
    assert [run["owner"] for run in json.loads(capsys.readouterr().out)["runs"]] == ["bob"]
