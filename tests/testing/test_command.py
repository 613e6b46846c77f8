"""The scripted server as a process of its own, steered over HTTP."""

import json
import subprocess
import sys
from pathlib import Path

import httpx


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
        assert process.wait(timeout=3) == 0


def _steer(url: str) -> None:
    root = url.removesuffix("/v1")
    body = {"messages": [{"role": "user", "content": "hi"}], "stream": True}
    with httpx.stream("POST", f"{url}/chat/completions", json=body) as response:
        lines = response.iter_lines()
        assert '"Hel"' in next(lines)
        httpx.post(f"{root}/script/gates/middle")
        assert '"lo"' in "".join(lines)
    httpx.post(f"{root}/script/replies", json=["more"])
    answer = httpx.post(f"{url}/chat/completions", json={**body, "stream": False}).json()
    assert answer["choices"][0]["message"]["content"] == "more"
    assert len(httpx.get(f"{root}/script/requests").json()) == 2
    httpx.post(f"{root}/script/replies", json=["never asked for"])
    assert httpx.delete(f"{root}/script/replies").json() == {"dropped": 1}
    assert httpx.post(f"{root}/script/replies", json=[]).json() == {"unused": 0}
