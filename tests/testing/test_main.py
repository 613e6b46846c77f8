"""The scripted server as a process of its own, steered over HTTP."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from dovetail.errors import ConfigError
from dovetail.testing.__main__ import main, read_script
from patience import PATIENCE


def test_process_plays_a_file_and_is_steered_over_http(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"steps": ["Hel", {"hold": "middle"}, "lo"]}]))
    command = [sys.executable, "-m", "dovetail.testing", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            _steer(process.stdout.readline().strip())
        finally:
            process.terminate()
        assert process.wait(timeout=PATIENCE) == 0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[", "Expecting value"),
        ('{"a": 1}', "must contain a list of replies"),
        ('["fine", {"txt": "Hi"}]', "reply 2: Unknown reply field 'txt'. Expected one of: text"),
        (
            '[{"usage": {"prompt_tokens": 1}}]',
            "Unknown usage field 'prompt_tokens'. Expected one of: input_tokens",
        ),
        ('[{"tool_calls": [{"tool": "add"}]}]', "Call 1 has no tool name: {'tool': 'add'}"),
        ('[["On", {"wait": 1}]]', "Invalid step {'wait': 1}"),
        ("[7]", "Invalid reply 7"),
    ],
)
def test_a_script_with_a_mistake_is_refused_at_the_start(tmp_path: Path, content: str, told: str) -> None:
    script = tmp_path / "script.json"
    script.write_text(content)
    with pytest.raises(ConfigError) as caught:
        read_script(script)
    assert str(script) in caught.value.message
    assert told in caught.value.message


def test_a_missing_script_is_reported_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["testing", str(tmp_path / "gone.json")])
    with pytest.raises(SystemExit):
        main()
    assert "Cannot read " in capsys.readouterr().err


def _steer(url: str) -> None:
    root = url.removesuffix("/v1")
    body = {"messages": [{"role": "user", "content": "hi"}], "stream": True}
    with httpx.stream("POST", f"{url}/chat/completions", json=body, timeout=PATIENCE) as response:
        lines = response.iter_lines()
        assert '"Hel"' in next(lines)
        httpx.post(f"{root}/script/gates/middle", timeout=PATIENCE)
        assert '"lo"' in "".join(lines)
    httpx.post(f"{root}/script/replies", json=["more"], timeout=PATIENCE)
    answer = httpx.post(f"{url}/chat/completions", json={**body, "stream": False}, timeout=PATIENCE).json()
    assert answer["choices"][0]["message"]["content"] == "more"
    assert len(httpx.get(f"{root}/script/requests", timeout=PATIENCE).json()) == 2
    httpx.post(f"{root}/script/replies", json=["never asked for"], timeout=PATIENCE)
    assert httpx.delete(f"{root}/script/replies", timeout=PATIENCE).json() == {"dropped": 1}
    assert httpx.post(f"{root}/script/replies", json=[], timeout=PATIENCE).json() == {"unused": 0}
