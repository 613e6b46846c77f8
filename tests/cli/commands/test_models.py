"""`dovetail models` lists and checks models, and fetches and finds the embedded ones."""

import json
import socket
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import command_line
import gguf_files
from dovetail.concurrency import run_sync
from dovetail.requesters.local import weights
from dovetail.requesters.local.download import pull
from dovetail.testing import ScriptedServer
from mock_provider import MockProvider
from model_servers import Received, clear_variables, run_server, send_json

run = partial(command_line.run, "models")


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    clear_variables(monkeypatch)


def put(name: str) -> Path:
    """A file that stands for fetched weights."""
    entry = weights.get_weights(name)
    path = weights.cache_folder() / entry.file_name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.truncate(entry.size)
    weights.mark_verified(path)
    return path


def test_list_shows_the_downloaded_models_and_the_one_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    put("small")
    assert run("list") == 0
    head, good, small, *_ = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "Model"
    assert "not downloaded: dovetail models pull good, in use" in good
    assert small.split() == ["local:small", "downloaded", "free", "8,192", "98", "MB"]


def test_files_in_the_cache_folder_and_in_the_folders_of_the_settings_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = weights.cache_folder() / "tiny.gguf", tmp_path / "more" / "deep" / "other.gguf"
    for path in (first, second):
        path.parent.mkdir(parents=True)
        path.write_bytes(gguf_files.build())
    (tmp_path / "dovetail.toml").write_text("[model]\nfolders = ['more']\n")
    monkeypatch.chdir(tmp_path)
    assert run("list") == 0
    lines = capsys.readouterr().out.splitlines()[3:5]
    assert [line.split()[0] for line in lines] == ["local:tiny", "local:other"]
    assert str(second) in lines[1]
    assert run("path", "other") == 0
    assert capsys.readouterr().out.strip() == str(second)


def test_good_model_is_used_when_both_are_here(capsys: pytest.CaptureFixture[str]) -> None:
    put("small")
    put("good")
    run("list", "local")
    assert "downloaded, in use" in capsys.readouterr().out.splitlines()[1]


def test_file_of_another_size_does_not_count() -> None:
    put("small").write_bytes(b"cut off")
    assert weights.find("small") is None


def test_path_of_a_model_or_of_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    path = put("small")
    assert run("path", "small") == 0
    assert run("path") == 0
    assert capsys.readouterr().out.splitlines() == [str(path), str(path.parent)]


def test_path_of_a_model_that_is_not_here_says_how_to_fetch_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("path", "good") == 1
    assert "dovetail models pull good" in capsys.readouterr().err


def test_pull_of_a_downloaded_model_prints_its_path(capsys: pytest.CaptureFixture[str]) -> None:
    path = put("small")
    assert run("pull", "small") == 0
    assert capsys.readouterr().out == f"{path}\n"


def test_pull_of_an_unknown_model_names_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pull", "huge") == 1
    assert capsys.readouterr().err == "Error: Unknown embedded model 'huge'. Expected one of: good, small.\n"


def test_pull_that_fails_is_one_message(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    assert run("pull", "small") == 1
    error = capsys.readouterr().err
    assert "Cannot use the cache folder" in error
    assert "Traceback" not in error


def choose(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def list_one(received: Received) -> Any:
    if received.headers.get("authorization") != "Bearer sk-right-key":
        return send_json({}, 401)
    return send_json({"data": [{"id": "gpt-5-mini"}]})


def write_provider(folder: Path, url: str, key: str) -> None:
    (folder / "dovetail.toml").write_text(
        f'[model.providers.openai]\nbase_url = "{url}/v1"\napi_key = "{key}"\n'
    )


def test_list_shows_what_answers_and_what_is_not_set_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with run_server(list_one) as server:
        write_provider(tmp_path, server.url, "sk-right-key")
        assert run("list") == 0
    text = capsys.readouterr().out
    assert ["openai:", "answers", "1", "paid", f"{server.url}/v1"] in [
        line.split() for line in text.splitlines()
    ]
    assert "Not set up: anthropic (ANTHROPIC_API_KEY), google (GEMINI_API_KEY)" in text
    assert "sk-right-key" not in text


def test_list_says_that_a_key_is_rejected_and_never_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with run_server(list_one) as server:
        write_provider(tmp_path, server.url, "sk-wrong-key")
        assert run("list", "--json") == 0
    text = capsys.readouterr().out
    openai = next(each for each in json.loads(text)["providers"] if each["name"] == "openai")
    assert (openai["set_up"], openai["reachable"]) == (True, False)
    assert openai["state"] == "rejects the API key (HTTP 401)"
    assert "sk-wrong-key" not in text


def test_list_of_one_provider_has_prices_and_windows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with run_server(list_one) as server:
        write_provider(tmp_path, server.url, "sk-right-key")
        assert run("list", "openai") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["openai:gpt-5-mini", "listed", "$0.25", "in,", "$2", "out", "400,000"]


def test_list_says_why_the_configured_model_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", "antropic:claude-sonnet-4-5")
    assert run("list") == 0
    assert "The configured model cannot be used: Unknown provider 'antropic'" in capsys.readouterr().out


def test_list_of_a_provider_without_key_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "anthropic") == 1
    assert "Set ANTHROPIC_API_KEY" in capsys.readouterr().err


ABLE = [
    {"text": "Paris, I say.", "usage": {"input_tokens": 1000, "output_tokens": 100}},
    {"tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
    '{"color": "blue"}',
    "Red.",
]


def test_check_says_what_a_model_can_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(ABLE) as server:
        choose(monkeypatch, DOVETAIL_MODEL="openai:gpt-5-mini", DOVETAIL_BASE_URL=server.url)
        assert run("check", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    verdicts = {name: each["verdict"] for name, each in found["abilities"].items()}
    assert verdicts == {"text": "yes", "tools": "yes", "schema": "yes", "images": "yes", "reasoning": "no"}
    assert (found["model"], found["answer"]) == ("openai:gpt-5-mini", "Paris, I say.")
    assert found["cost"] == pytest.approx((1000 * 0.25 + 100 * 2) / 1e6)
    assert found["context_tokens"] == 400_000


@pytest.mark.parametrize(("listed", "shown"), [({"max_model_len": 16_384}, "16,384 tokens"), ({}, "unknown")])
def test_check_names_the_window_that_the_server_lists(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    listed: dict[str, int],
    shown: str,
) -> None:
    with ScriptedServer(ABLE) as server:
        server.description = listed
        choose(monkeypatch, DOVETAIL_MODEL="openai:scripted", DOVETAIL_BASE_URL=server.url)
        assert run("check") == 0
    assert f"Context window: {shown}" in capsys.readouterr().out


def test_check_of_a_model_that_can_only_write(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refusals = [
        {"status": 400, "body": {"error": {"message": "model does not support tools"}}},
        {"status": 400, "body": {"error": {"message": "response_format is not supported"}}},
        "Blue, I think.",
        {"status": 400, "body": {"error": {"message": "image input is not supported"}}},
    ]
    with ScriptedServer(["Paris.", *refusals]) as server:
        choose(monkeypatch, DOVETAIL_MODEL="vllm:old", DOVETAIL_BASE_URL=server.url)
        assert run("check") == 0
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines()[2:7]]
    assert lines == [
        ["yes", "text"],
        ["no", "tools"],
        ["no", "schema"],
        ["no", "images"],
        ["no", "reasoning"],
    ]


def test_check_of_an_unknown_model_or_a_wrong_key_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer([], key="right") as server:
        choose(monkeypatch, DOVETAIL_BASE_URL=server.url, DOVETAIL_API_KEY="sk-wrong-key")
        assert run("check", "openai:gpt-5-mini") == 1
    told = capsys.readouterr().err
    assert "rejected the API key" in told
    assert "sk-wrong-key" not in told
    assert run("check", "antropic:claude") == 1
    assert "Did you mean 'anthropic'?" in capsys.readouterr().err


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_check_of_a_server_that_stays_silent_ends(
    options: Sequence[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        choose(monkeypatch, DOVETAIL_MODEL="vllm:x", DOVETAIL_BASE_URL=f"http://127.0.0.1:{port}/v1")
        assert run("check", "--timeout", "0.2", *options) == 1
    printed = capsys.readouterr()
    assert "Asking vllm:x: text" in printed.err
    assert "vllm:x did not answer within 0.2 s." in (printed.out if options else printed.err)
    if options:
        assert set(json.loads(printed.out)["error"]) == {"type", "message", "hint"}


def test_check_does_not_ask_the_fallbacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer(ABLE) as server:
        lines = [
            *("[model]", 'fallbacks = ["mine:good"]', "[model.retries]", "attempts = 1"),
            *("[model.providers.mine]", f'base_url = "{server.url}"'),
            *("[model.providers.vllm]", 'base_url = "http://127.0.0.1:9/v1"'),
        ]
        (tmp_path / "dovetail.toml").write_text("\n".join(lines))
        assert run("check", "vllm:none") == 1
        assert server.requests == []
    assert "Cannot connect to vllm" in capsys.readouterr().err


def test_check_speaks_with_a_provider_in_its_own_api(
    mock_provider: MockProvider, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mock_provider.reply(
        {"content": "Paris.", "reasoning": "France, so Paris."},
        {"toolCalls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
        '{"color": "blue"}',
        "Red.",
    )
    choose(
        monkeypatch,
        DOVETAIL_MODEL="anthropic:claude-sonnet-4-5",
        DOVETAIL_BASE_URL=f"{mock_provider.url}/v1",
        DOVETAIL_API_KEY="sk-ant-test-key",
    )
    assert run("check", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: each["verdict"] for name, each in found["abilities"].items()} == dict.fromkeys(
        ("text", "tools", "schema", "images", "reasoning"), "yes"
    )
    assert [request.path for request in mock_provider.requests] == ["/v1/messages"] * 4


def test_check_of_the_embedded_model_needs_no_network(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DOVETAIL_CACHE")
    run_sync(pull("small"))
    assert run("check", "local:small", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answer"]
    assert found["abilities"]["images"]["verdict"] == "no"
