"""The list of runs: filters, search, order, pages and totals, on SQLite and PostgreSQL."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from dovetail.errors import NotFoundError
from dovetail.events.delta import Usage
from dovetail.runs.listing import RunFilter, list_choices, list_runs
from dovetail.store.database import Database
from dovetail.store.tables import asks, entries, messages, runs, sessions
from postgres import make_database, uses_postgres

NOW = time.time()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=uses_postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    return tmp_path / "x.db" if request.param == "sqlite" else asyncio.run(make_database())


def make_run(number: int, **values: Any) -> dict[str, Any]:
    """A run that began `number` minutes ago, took that many seconds and cost as many cents."""
    began = NOW - 60 * number
    usage = {"input_tokens": 100 * number, "output_tokens": number, "cost": number / 100}
    row = {
        "id": f"run_{number}",
        "session_id": f"s{number % 2}",
        "owner": "ann",
        "message_id": f"answer{number}",
        "agent": "master",
        "model": "m:one",
        "generation": 1,
        "input": {"parent_id": f"question{number}"},
        "state": "ended",
        "reason": "goal",
        "usage": usage,
        **usage,
        "last_number": 1,
        "created_at": began,
        "ended_at": began + number,
        "phase": "working",
    }
    return row | values


def make_message(number: int, session: str, name: str, text: str) -> dict[str, Any]:
    return {
        "session_id": session,
        "id": name,
        "role": "user",
        "parts": [{"type": "text", "text": text}],
        "content": [],
        "metadata": {},
        "position": number,
        "created_at": NOW,
    }


@asynccontextmanager
async def store(url: str | Path, *rows: dict[str, Any]) -> AsyncGenerator[Database]:
    titles = {"s0": "Weather in Bergen", "s1": "Plans 50%"}
    of_sessions = [
        {"id": name, "owner": "ann", "title": title, "created_at": NOW, "updated_at": NOW}
        for name, title in titles.items()
    ]

    def fill(connection: sa.Connection) -> None:
        connection.execute(sa.insert(sessions), of_sessions)
        connection.execute(sa.insert(runs), list(rows))

    async with Database(url) as database:
        await database.write(fill)
        yield database


async def list_ids(database: Database, wanted: RunFilter | None = None, **options: Any) -> list[str]:
    return [run.id for run in (await list_runs(database, wanted or RunFilter(), **options)).runs]


async def test_runs_are_sorted_by_time_cost_duration_and_tokens(url: str | Path) -> None:
    unpriced = make_run(2, cost=None, usage={"input_tokens": 900}, input_tokens=900)
    async with store(url, make_run(1), unpriced, make_run(3, ended_at=NOW + 100)) as database:
        assert await list_ids(database) == ["run_1", "run_2", "run_3"]
        assert await list_ids(database, sort="cost") == ["run_3", "run_1", "run_2"]
        assert await list_ids(database, sort="duration") == ["run_3", "run_2", "run_1"]
        assert await list_ids(database, sort="tokens") == ["run_2", "run_3", "run_1"]


@pytest.mark.parametrize("sort", ["time", "cost", "duration", "tokens"])
async def test_pages_show_every_run_once_and_the_same_totals(url: str | Path, sort: Any) -> None:
    rows = [make_run(number, cost=0.05) for number in range(1, 8)]
    async with store(url, *rows) as database:
        seen: list[str] = []
        cursor = None
        while True:
            page = await list_runs(database, RunFilter(), sort=sort, limit=3, cursor=cursor)
            seen += [run.id for run in page.runs]
            assert (page.totals.runs, round(page.totals.cost, 6)) == (7, 0.35)
            if (cursor := page.cursor) is None:
                break
        assert sorted(seen) == sorted(row["id"] for row in rows)
        assert len(seen) == 7


async def test_totals_count_what_has_no_price_apart(url: str | Path) -> None:
    async with store(url, make_run(1), make_run(2, cost=None), make_run(4, owner="bob")) as database:
        totals = (await list_runs(database, RunFilter(owner="ann"))).totals
        assert (totals.runs, totals.cost) == (2, 0.01)
        assert (totals.input_tokens, totals.output_tokens, totals.unpriced_tokens) == (300, 3, 202)
        assert round(totals.duration) == 3


async def test_filters_choose_by_every_column(url: str | Path) -> None:
    other = make_run(4, owner="bob", agent="scout", model="m:two", reason="error", session_id=None)
    async with store(url, make_run(1), make_run(2), other) as database:
        everything = RunFilter()
        for change, ids in (
            ({"owner": "bob"}, ["run_4"]),
            ({"agent": "scout"}, ["run_4"]),
            ({"model": "m:one"}, ["run_1", "run_2"]),
            ({"reasons": ["error", "cancelled"]}, ["run_4"]),
            ({"session_id": "s1"}, ["run_1"]),
            ({"since": NOW - 130}, ["run_1", "run_2"]),
            ({"before": NOW - 130}, ["run_4"]),
            ({"states": ["running"]}, []),
        ):
            assert await list_ids(database, replace(everything, **change)) == ids, change
        choices = await list_choices(database, "ann")
        assert choices == {"agents": ["master"], "models": ["m:one"], "owners": ["ann"]}
        assert (await list_choices(database, None))["owners"] == ["ann", "bob"]


async def test_search_finds_title_question_answer_and_id(url: str | Path) -> None:
    async with store(url, make_run(1), make_run(2), make_run(3, session_id=None)) as database:
        said = [
            make_message(1, "s0", "question2", "Brauche ich einen Schirm? 要带伞吗"),
            make_message(2, "s0", "answer2", "Yes, take an umbrella."),
            make_message(3, "s0", "other", "Something else entirely."),
        ]
        await database.write(lambda connection: connection.execute(sa.insert(messages), said) and None)
        for query, ids in (
            ("bergen", ["run_2"]),
            ("50%", ["run_1"]),
            ("umbrella", ["run_2"]),
            ("带伞", ["run_2"]),
            ("entirely", []),
            ("run_3", ["run_3"]),
            ("%", ["run_1"]),
        ):
            assert await list_ids(database, RunFilter(query=query)) == ids, query


async def test_states_say_what_a_person_sees_and_a_run_in_progress_what_it_has_spent(
    url: str | Path,
) -> None:
    open_run = {"state": "running", "reason": None, "ended_at": None, "usage": None, "session_id": None}
    fresh = {**open_run, "cost": None, "input_tokens": 0, "output_tokens": 0}
    rows = [
        make_run(1, **fresh, phase="queued"),
        make_run(2, **fresh),
        make_run(3, **fresh, phase="waiting"),
        make_run(4, **fresh),
        make_run(5),
    ]
    ask = {
        "id": "ask",
        "run_id": "run_4",
        "owner": "ann",
        "path": [],
        "kind": "approval",
        "call_id": "c",
        "payload": {},
        "state": "open",
        "created_at": NOW,
    }
    turns = [
        {"run_id": "run_2", "first": n, "last": n, "path": [], "time": NOW, "type": "turn-end", "body": body}
        for n, body in enumerate(({"usage": {"input_tokens": 5, "cost": 0.5}}, {"usage": {"cost": 0.25}}), 1)
    ]
    async with store(url, *rows) as database:
        await database.write(lambda connection: connection.execute(sa.insert(asks), [ask]) and None)
        await database.write(lambda connection: connection.execute(sa.insert(entries), turns) and None)
        page = await list_runs(database, RunFilter())
        states = {run.id: run.state for run in page.runs}
        assert states == {
            "run_1": "queued",
            "run_2": "running",
            "run_3": "waiting",
            "run_4": "waiting",
            "run_5": "ended",
        }
        assert await list_ids(database, RunFilter(states=["waiting"])) == ["run_3", "run_4"]
        spent = next(run for run in page.runs if run.id == "run_2")
        assert spent.usage == Usage(input_tokens=5, cost=0.75)
        assert spent.duration >= 120


@pytest.mark.parametrize("cursor", ["nonsense", "W10", "WzEsMl0", "é"])
async def test_a_cursor_that_was_never_given_is_refused(tmp_path: Path, cursor: str) -> None:
    async with Database(tmp_path / "x.db") as database:
        with pytest.raises(NotFoundError, match="Invalid cursor"):
            await list_runs(database, RunFilter(), cursor=cursor)
