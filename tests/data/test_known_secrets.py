"""Secrets that the process has met are masked in what anyone is shown."""

import base64
from pathlib import Path

import pytest

from dovetail.data import known_secrets
from dovetail.data.known_secrets import hide_known, hide_known_in, protect
from dovetail.data.private_file import write_private
from dovetail.data.secrets import hide_traces
from dovetail.data.text import report_error
from dovetail.errors import ConfigError
from dovetail.events.call import Kind, ToolCall
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import Event
from dovetail.settings import ProviderKeys
from dovetail.tools import ToolContext, ToolResult, make_tool
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.result import describe_outcome
from dovetail.tools.snapshot import ToolSnapshot

KEY = "sk-ant-api03-Zq8vK1mT5xR2wLr7yB"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_secrets, "_known", ())
    monkeypatch.setattr(known_secrets, "_files", {})


def test_a_known_secret_is_masked_in_texts_and_in_data_and_a_short_one_is_a_word() -> None:
    protect([KEY, "postgres"])
    assert hide_known(f"postgres: {KEY}!") == "postgres: ***!"
    assert hide_known_in({"a": [KEY, 1, None], KEY: {"b": KEY}}) == {
        "a": ["***", 1, None],
        "***": {"b": "***"},
    }
    assert report_error(ConfigError(f"Invalid {KEY}", hint=KEY)) == {
        "type": "config_error",
        "message": "Invalid ***",
        "hint": "***",
    }


def test_a_secret_that_begins_another_one_does_not_show_the_rest_of_it() -> None:
    longer = f"{KEY}-and-the-rest-of-it"
    for order in ([KEY, longer], [longer, KEY]):
        for secret in order:
            protect([secret])
        assert hide_known(f"{longer} {KEY}") == "*** ***"


def test_a_key_that_is_entered_is_known_at_once_and_after_a_restart(tmp_path: Path) -> None:
    ProviderKeys(tmp_path / "keys.json").keep("anthropic", KEY)
    assert hide_known(KEY) == "***"
    other = f"{KEY}-other"
    write_private(tmp_path / "keys.json", {"anthropic": other})
    ProviderKeys(tmp_path / "keys.json")
    assert hide_known(other) == "***"


def test_a_key_that_another_process_stores_is_masked_in_the_first_text_after_it(tmp_path: Path) -> None:
    ProviderKeys(tmp_path / "keys.json")
    assert hide_known_in({"key": KEY}) == {"key": KEY}
    write_private(tmp_path / "keys.json", {"anthropic": KEY})
    assert hide_known_in({"key": KEY}) == {"key": "***"}
    (tmp_path / "keys.json").write_text("{")
    assert hide_known(KEY) == "***"
    other = f"{KEY}-other"
    write_private(tmp_path / "keys.json", {"anthropic": other})
    assert hide_known(f"{KEY} {other}") == "*** ***"


async def test_a_tool_shows_no_secret_in_its_result_its_artifact_and_its_progress() -> None:
    async def leak(context: ToolContext) -> ToolResult:
        context.update({"so far": KEY})
        return ToolResult(KEY, return_display={"shown": KEY}, data=(KEY,))

    async def fail() -> None:
        raise ValueError(f"wrong key {KEY}")

    async def flood() -> str:
        return f"{KEY} " * 20_000

    protect([KEY])
    seen: list[Event] = []
    tools = ToolSnapshot.of(
        [make_tool(leak, kind=Kind.Read), make_tool(fail, kind=Kind.Read), make_tool(flood, kind=Kind.Read)]
    )
    runner = ToolRunner()
    run = RunContext(emit=seen.append, owner="ann")
    for name in ("leak", "fail", "flood"):
        outcome = await runner.run_call(tools, ToolCall(call_id=name, name=name, arguments="{}"), run)
        assert KEY not in str(outcome.result.llm_content)
        assert "***" in str(describe_outcome(outcome))
        assert KEY not in str(describe_outcome(outcome))
    artifact = outcome.result.data["artifact_id"]
    arguments = {"artifact_id": artifact}
    read = await runner.run_call(tools, ToolCall(call_id="r", name="read_artifact", arguments=arguments), run)
    assert "***" in str(read.result.llm_content)
    assert "***" in str(seen)
    assert KEY not in str(seen)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (f"Incorrect API key {KEY[:16]}...", "Incorrect API key ***..."),
        (f"key {KEY[:20]}****{KEY[-16:]}", "key *******" + "***"),
        (KEY[::-1], "***"),
        (base64.b64encode(KEY.encode()).decode().rstrip("="), "***"),
        (f"{KEY[:10]} is a beginning", f"{KEY[:10]} is a beginning"),
        ("AWS4 Credential=AKIA, Signature=0a1b2c3d4e5f, x", "AWS4 Credential=AKIA, Signature=***, x"),
    ],
)
def test_the_error_of_a_provider_shows_no_part_of_a_key(said: str, shown: str) -> None:
    assert hide_traces(said, [KEY]) == shown
