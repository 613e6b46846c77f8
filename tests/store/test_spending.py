"""The spending of days, shared by the processes of one database."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from dovetail.errors import StoreError
from dovetail.events.spend import Booking, DayAccount, Need, Shortage, Spending, SpendLimits
from dovetail.runs.run import RunSpec
from dovetail.runs.store import RunStore
from dovetail.store.database import Database, Transaction
from dovetail.store.retention import prune
from dovetail.store.spending import SpendingTable
from dovetail.store.tables import runs
from postgres import make_database, uses_postgres

OWNER = DayAccount(scope="owner", name="ada", limits=SpendLimits(cost=10, calls=50))
SERVICE = DayAccount(scope="service", limits=SpendLimits(cost=1, calls=100))
DAY = "2027-01-15"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/spend.db" if request.param == "sqlite" else await make_database()


async def test_what_is_booked_holds_in_another_process_and_after_a_restart(url: str) -> None:
    async with Database(url) as one, Database(url) as other:
        here, there = SpendingTable(one), SpendingTable(other)
        assert await here.reserve(DAY, [OWNER, SERVICE], Need(cost=0.7)) is None
        shortage = await there.reserve(DAY, [OWNER, SERVICE], Need(cost=0.7))
        assert shortage == Shortage(
            limit="max-cost",
            limits=SERVICE.limits,
            spent=Spending(cost=0.7, calls=1),
            need=Need(cost=0.7),
            account=SERVICE,
        )
    async with Database(url) as again:
        table = SpendingTable(again)
        assert await table.read(DAY, [SERVICE, OWNER]) == [Spending(cost=0.7, calls=1)] * 2
        await table.correct(DAY, [OWNER, SERVICE], -0.5)
        assert await table.reserve(DAY, [OWNER, SERVICE], Need(cost=0.7)) is None
        assert await table.reserve("2027-01-16", [OWNER, SERVICE], Need(cost=0.9)) is None


async def test_what_is_held_is_given_back_once_and_settled_late_all_the_same(url: str) -> None:
    need, accounts = Need(cost=0.4, kept_cost=0.1, kept_calls=1), [OWNER, SERVICE]
    async with Database(url) as one, Database(url) as other:
        here, there = SpendingTable(one), SpendingTable(other)
        booking = Booking(request_id="a", last_id="l", run_id="run")
        assert await here.reserve(DAY, accounts, need, booking) is None
        assert await here.read(DAY, accounts) == [Spending(cost=0.5, calls=2)] * 2
        later = Booking(request_id="b", last_id="l", run_id="run")  # keeps the last answer in place of before
        assert await here.reserve(DAY, accounts, need, later) is None
        assert await here.read(DAY, accounts) == [Spending(cost=pytest.approx(0.9), calls=3)] * 2
        third = Booking(request_id="c", last_id="m", run_id="other")
        shortage = await there.reserve(DAY, accounts, Need(cost=0.2), third)
        assert shortage is not None
        assert shortage.may_fit
        assert await here.read(DAY, accounts) == [Spending(cost=pytest.approx(0.9), calls=3)] * 2
        await here.settle(DAY, accounts, "a", 0.4, Spending(cost=0.01, calls=1, tokens=7))
        await there.release(run_id="run")  # the process of `b` has crashed
        await there.release(run_id="run")
        assert await here.read(DAY, accounts) == [Spending(cost=pytest.approx(0.01), calls=2, tokens=7)] * 2
        await here.settle(DAY, accounts, "b", 0.4, Spending(cost=0.02, calls=1))  # or it has not
        assert await here.read(DAY, accounts) == [Spending(cost=pytest.approx(0.03), calls=2, tokens=7)] * 2


async def test_a_run_that_ended_in_another_process_holds_nothing_more(url: str) -> None:
    async with Database(url) as database:
        table, booking = SpendingTable(database), Booking(request_id="a", last_id="l", run_id="run")
        row = {"id": "run", "owner": "ada", "agent": "a", "model": "m", "input": {}, "created_at": 1.0}
        await database.write(
            lambda transaction: transaction.execute(sa.insert(runs), {**row, "state": "ended"})
        )
        assert await table.reserve(DAY, [OWNER], Need(cost=0.4, kept_cost=0.1, kept_calls=1), booking) is None
        assert await table.read(DAY, [OWNER]) == [Spending(cost=0.0, calls=0)]


async def test_tokens_of_a_run_are_counted_under_the_day_on_which_it_began(url: str) -> None:
    run = DayAccount(scope="run", name="run_1", limits=SpendLimits(tokens=10), day=DAY)
    async with Database(url) as database:
        table = SpendingTable(database)
        assert await table.reserve("2027-01-16", [run], Need()) is None
        await table.settle("2027-01-16", [run], "a", 0.0, Spending(calls=1, tokens=10))
        shortage = await table.reserve("2027-01-17", [run], Need())
        assert shortage is not None
        assert (shortage.limit, shortage.spent) == ("max-tokens", Spending(calls=1, tokens=10))
        assert await table.reserve("2027-01-17", [run], Need(is_last=True)) is None


async def test_two_processes_at_once_cannot_take_the_last_twice(url: str) -> None:
    async def spend(table: SpendingTable, accounts: Sequence[DayAccount]) -> int:
        taken = 0
        while await table.reserve(DAY, accounts, Need(cost=0.001)) is None:
            taken += 1
        return taken

    async with Database(url) as one, Database(url) as other:
        tables = [SpendingTable(one), SpendingTable(other)] * 3
        orders = [(OWNER, SERVICE), (SERVICE, OWNER)] * 3
        taken = await asyncio.gather(
            *(spend(table, order) for table, order in zip(tables, orders, strict=True))
        )
        assert sum(taken) == 50
        total = (await tables[0].read(DAY, [OWNER]))[0]
        assert (total.calls, round(total.cost, 6)) == (50, 0.05)


async def test_a_request_waits_for_a_database_that_is_away_and_is_booked_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the database went away after it had stored the booking."""
    account = DayAccount(scope="service", limits=SpendLimits(cost=1))
    async with Database(url) as database:
        failures, write = [False, True], database.write

        async def stumble(work: Callable[[Transaction], Any]) -> Any:
            if not failures:
                return await write(work)
            if failures.pop(0):
                await write(work)
            raise StoreError("The database failed: it went away.")

        monkeypatch.setattr(database, "write", stumble)
        table, booking = SpendingTable(database), Booking(request_id="a", last_id="l", run_id="run")
        assert await table.reserve(DAY, [account], Need(cost=0.4), booking) is None
        assert await table.read(DAY, [account]) == [Spending(cost=0.4, calls=1)]
        failures.append(False)
        await table.settle(DAY, [account], "a", 0.4, Spending(cost=0.1, calls=1))
        assert await table.read(DAY, [account]) == [Spending(cost=pytest.approx(0.1), calls=1)]


async def test_a_closed_database_is_not_waited_for(url: str) -> None:
    account = DayAccount(scope="service", limits=SpendLimits(cost=1))
    async with Database(url) as database:
        table = SpendingTable(database)
    with pytest.raises(StoreError, match="is not open"):
        await table.reserve(DAY, [account], Need())


PROGRAM = """
import asyncio, sys
from dovetail.events.spend import DayAccount, Need, SpendLimits
from dovetail.runs.run import RunSpec
from dovetail.runs.store import RunStore
from dovetail.store.database import Database, Transaction
from dovetail.store.spending import SpendingTable
from dovetail.store.tables import runs

async def main():
    account = DayAccount(scope="agent", name="a", limits=SpendLimits(calls=30))
    async with Database(sys.argv[1]) as database:
        taken = 0
        while await SpendingTable(database).reserve("2027-01-15", [account], Need()) is None:
            taken += 1
        print(taken)

asyncio.run(main())
"""


def test_real_processes_share_one_day(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, f"sqlite:///{tmp_path}/spend.db"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    taken = [int(process.communicate()[0]) for process in running]
    assert sum(taken) == 30
    assert subprocess.check_output(command, text=True).strip() == "0"


async def test_old_days_are_pruned(url: str) -> None:
    async with Database(url) as database:
        table = SpendingTable(database)
        await table.reserve("2020-01-01", [OWNER], Need())
        await table.reserve(DAY, [OWNER], Need())
        await prune(database, before=1_700_000_000.0)
        assert await table.read("2020-01-01", [OWNER]) == [Spending()]
        assert await table.read(DAY, [OWNER]) == [Spending(calls=1)]


async def test_a_database_of_the_first_form_gains_the_table_and_keeps_its_runs(url: str) -> None:
    steps = (
        *(f"DROP TABLE {table}" for table in ("spending", "inbox", "ticks", "schedules", "shares")),
        *(f"DROP TABLE {table}" for table in ("run_shares", "past_usage", "processes", "reservations")),
        "DROP INDEX sessions_by_parent",
        "DROP INDEX runs_by_time",
        "DROP INDEX runs_by_owner",
        *(
            f"ALTER TABLE sessions DROP COLUMN {column}"
            for column in ("agent", "parent_id", "origin", "options", "pinned", "folder")
        ),
        *(
            f"ALTER TABLE runs DROP COLUMN {column}"
            for column in (
                *("phase", "queue", "priority", "attempts", "waits_for", "mail"),
                *("cost", "input_tokens", "output_tokens"),
            )
        ),
        """UPDATE runs SET usage = '{"input_tokens": 12, "output_tokens": 3, "cost": 0.25}'""",
        'ALTER TABLE runs DROP COLUMN "limit"',
        "ALTER TABLE runs DROP COLUMN notice",
        "UPDATE alembic_version SET version_num = '0001'",
    )
    async with Database(url) as database:
        await RunStore(database, "p").create("run", RunSpec(agent="master"))
        for step in steps:
            await database.write(lambda transaction, step=step: transaction.execute(sa.text(step)) and None)
    async with Database(url) as database:
        assert await SpendingTable(database).reserve(DAY, [OWNER], Need()) is None
        assert (await RunStore(database, "p").get("run")).spec.agent == "master"
        counted = sa.select(runs.c.cost, runs.c.input_tokens, runs.c.output_tokens)
        assert await database.read(lambda connection: tuple(connection.execute(counted).one())) == (
            0.25,
            12,
            3,
        )
