"""`dovetail usage` and `dovetail runs list --sort`: the same figures as the page has."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from serving import serve

pytestmark = pytest.mark.usefixtures("one_day")


def reply(text: str, cost: float | None) -> dict[str, Any]:
    return {"text": text, "usage": {"input_tokens": 100, "output_tokens": 10, "cost": cost}}


async def command(*words: object) -> int:
    return await asyncio.to_thread(run, *words)


async def test_spending_is_shown_by_day_and_model_and_the_most_expensive_run_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("--workspace", tmp_path)
    async with serve(tmp_path, [reply("One.", 0.25), reply("Two.", 0.5), reply("Three.", None)]) as server:
        for name in ("cheap", "dear", "unknown"):
            await server.chat("Hi", name)
    assert await command("usage", *at) == 0
    by_day = capsys.readouterr().out
    assert by_day.splitlines()[0].split() == ["DAY", "COST", "INPUT", "OUTPUT", "RUNS"]
    assert by_day.splitlines()[2].split() == ["total", "0.7500", "300", "30", "3"]
    assert "leave out 110 tokens" in by_day
    assert await command("usage", "--by", "agent", *at) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["master", "0.7500", "300", "30", "3"]
    assert await command("usage", "--from", "2020-01-01", "--to", "2020-01-31", *at) == 0
    assert capsys.readouterr().out == "No runs from 2020-01-01 to 2020-01-31 (UTC).\n"
    assert await command("runs", "list", "--all", "--sort", "cost", *at) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[1] for row in rows] == ["dear", "cheap", "unknown"]
    assert "0.5000" in rows[0]


async def test_a_wrong_day_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await command("usage", "--from", "yesterday", "--workspace", tmp_path) == 1
    assert "Invalid day 'yesterday'." in capsys.readouterr().err
