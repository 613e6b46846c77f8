"""Usage by day, model, agent and owner: each turn once, where it belongs, also after a chat was deleted."""

import asyncio
import time
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from dovetail.events.delta import Usage
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import ChildEvent, RunStart, TurnEnd
from dovetail.events.run_result import RunResult
from dovetail.runs.run import RunSpec, RunWork
from dovetail.runs.service import Runs
from dovetail.runs.usage import By, UsageFilter, count_usage, read_period, sum_rows
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database
from dovetail.store.retention import prune
from dovetail.store.tables import runs
from postgres import make_database, uses_postgres

pytestmark = pytest.mark.usefixtures("one_day")
EVER = UsageFilter(first=date(2000, 1, 1), last=date(2100, 1, 1))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=uses_postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    return tmp_path / "x.db" if request.param == "sqlite" else asyncio.run(make_database())


def today() -> date:
    """The day now, not when the tests were collected."""
    return datetime.fromtimestamp(time.time(), UTC).date()


class Team(RunWork):
    """A turn of the run's own model, one of a fallback, and two of sub-agents with models of their own."""

    async def work(self, context: RunContext) -> RunResult:
        context.emit(TurnEnd(1, Usage(input_tokens=10, output_tokens=1, cost=0.5), "tool-calls"))
        context.emit(TurnEnd(2, Usage(input_tokens=20, output_tokens=2, cost=0.25), "stop", "m:fallback"))
        for name, model, cost in (("scout", "m:small", 0.125), ("poet", "m:free", None)):
            context.emit(ChildEvent(name, RunStart(name, model)))
            usage = Usage(input_tokens=40, output_tokens=4, cost=cost)
            context.emit(ChildEvent(name, TurnEnd(1, usage, "stop")))
        return RunResult(text="Done.")


class Alone(RunWork):
    """One turn of one model."""

    async def work(self, context: RunContext) -> RunResult:
        context.emit(TurnEnd(1, Usage(input_tokens=3, output_tokens=1, cost=1.0), "stop"))
        return RunResult(text="Done.")


async def run(engine: Runs, work: RunWork, **spec: str) -> RunResult:
    return await (await engine.start(RunSpec(agent="master", model="m:large", **spec), work)).result()


async def costs(
    database: Database, by: By, wanted: UsageFilter = EVER
) -> dict[str, tuple[float | None, int]]:
    return {row.key: (row.cost, row.runs) for row in await count_usage(database, by, wanted)}


async def test_each_turn_counts_once_for_the_agent_and_model_that_took_it(url: str | Path) -> None:
    async with Database(url) as database, Runs(database) as engine:
        result = await run(engine, Team(), owner="ann")
        await run(engine, Alone(), owner="bob")
        assert result.duration > 0
        assert await costs(database, "model") == {
            "m:large": (1.5, 2),
            "m:fallback": (0.25, 1),
            "m:small": (0.125, 1),
            "m:free": (None, 1),
        }
        assert await costs(database, "agent") == {"master": (1.75, 2), "scout": (0.125, 1), "poet": (None, 1)}
        assert await costs(database, "owner") == {"bob": (1.0, 1), "ann": (0.875, 1)}
        assert await costs(database, "day") == {today().isoformat(): (1.875, 2)}
        total = sum_rows(await count_usage(database, "day", EVER))
        assert (total.input_tokens, total.output_tokens, total.unpriced_tokens) == (113, 12, 44)


async def test_a_run_of_one_model_stores_no_shares(url: str | Path) -> None:
    async with Database(url) as database, Runs(database) as engine:
        await run(engine, Alone())
        count = sa.text("SELECT count(*) FROM run_shares")
        assert await database.read(lambda connection: connection.scalar(count)) == 0


async def test_only_the_owner_and_the_days_that_were_asked_for_count(url: str | Path) -> None:
    async with Database(url) as database, Runs(database) as engine:
        await run(engine, Alone(), owner="ann")
        await run(engine, Alone(), owner="bob")
        moved = sa.update(runs).where(runs.c.owner == "ann").values(created_at=86400.0 * 365)
        await database.write(lambda connection: connection.execute(moved) and None)
        old = UsageFilter(first=date(1971, 1, 1), last=date(1971, 1, 1))
        assert await costs(database, "owner", old) == {"ann": (1.0, 1)}
        assert await costs(database, "day", old) == {"1971-01-01": (1.0, 1)}
        assert await costs(database, "owner", UsageFilter(first=today(), last=today(), owner="ann")) == {}
        assert await costs(database, "owner", UsageFilter(first=today(), last=today())) == {"bob": (1.0, 1)}


@pytest.mark.parametrize("way", ["delete", "prune"])
async def test_what_was_spent_stays_after_its_chat_is_gone(url: str | Path, way: str) -> None:
    async with Database(url) as database, Runs(database) as engine:
        store = SessionStore(database)
        for session_id in ("s1", "s2"):
            await store.create(owner="ann", session_id=session_id)
            await run(engine, Team(), owner="ann", session_id=session_id)
        before = {by: await costs(database, by) for by in ("day", "model", "agent", "owner")}
        if way == "delete":
            for session_id in ("s1", "s2"):
                await store.delete(session_id, owner="ann")
        else:
            assert (await prune(database, before=time.time() + 10)).runs == 2
        after = {by: await costs(database, by) for by in ("day", "model", "agent", "owner")}
        assert after["day"] == before["day"]
        assert after["owner"] == before["owner"]
        for by in ("model", "agent"):
            assert {key: cost for key, (cost, _) in after[by].items()} == {
                key: cost for key, (cost, _) in before[by].items()
            }


def test_a_period_ends_today_unless_it_is_said_otherwise() -> None:
    assert read_period(None, None, days=1) == (today(), today())
    assert read_period(None, date(2026, 3, 31)) == (date(2026, 3, 2), date(2026, 3, 31))
    assert read_period(date(2020, 1, 1), None) == (date(2020, 1, 1), today())
