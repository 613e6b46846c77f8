"""Transactions that share their cost."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, OperationalError

from dovetail.errors import ConflictError, NotFoundError, StoreError
from dovetail.store.database import Database, Transaction
from dovetail.store.sqlite import GroupCommit, TransactionThreads, Work
from dovetail.store.tables import sessions

COUNT = sa.text("SELECT count(*) FROM t")
ROW = {"owner": "me", "title": "", "version": 1, "created_at": 0.0, "updated_at": 0.0}


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with Database(tmp_path / "x.db") as opened:
        yield opened


def insert(name: str) -> Work[str]:
    def work(connection: Transaction) -> str:
        connection.execute(sa.insert(sessions).values({**ROW, "id": name}))
        return name

    return work


async def list_names(database: Database) -> list[str]:
    return await database.read(
        lambda connection: list(connection.scalars(sa.select(sessions.c.id).order_by(sessions.c.id)))
    )


async def test_what_waits_is_done_in_one_transaction_and_each_gets_its_own_result(database: Database) -> None:
    seen: list[object] = []  # the transactions themselves: the id of one that is gone may be given again

    def look(connection: Transaction) -> int:
        seen.append(connection.get_transaction())
        return len(seen)

    results = await asyncio.gather(*(database.write(look) for _ in range(5)))
    assert results == [1, 2, 3, 4, 5]
    assert len({id(transaction) for transaction in seen}) == 1


async def test_one_that_is_refused_does_not_spoil_the_others(database: Database) -> None:
    await database.write(insert("b"))
    results = await asyncio.gather(*(database.write(insert(name)) for name in "abcd"), return_exceptions=True)
    assert [type(result) for result in results] == [str, ConflictError, str, str]
    assert await list_names(database) == ["a", "b", "c", "d"]


async def test_work_that_fails_by_itself_is_reported_only_to_its_caller(database: Database) -> None:
    def fail(connection: Transaction) -> str:
        raise ValueError("no")

    works = [insert("a"), fail, insert("b")]
    results = await asyncio.gather(*(database.write(work) for work in works), return_exceptions=True)
    assert [str(result) for result in results] == ["a", "no", "b"]
    assert await list_names(database) == ["a", "b"]


async def test_leaving_before_the_work_has_begun_withdraws_it(database: Database) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()

    async def transact(work: Work[object]) -> object:
        begun.set()
        await gate.wait()
        return await database.write(work)

    together = GroupCommit(transact)
    first = asyncio.create_task(together.do(insert("a")))
    await begun.wait()
    second = asyncio.create_task(together.do(insert("b")))
    third = asyncio.create_task(together.do(insert("c")))
    await asyncio.sleep(0)
    second.cancel()
    gate.set()
    await asyncio.gather(first, third)
    assert second.cancelled()
    assert await list_names(database) == ["a", "c"]


async def test_an_unreachable_database_is_tried_once_for_all_waiters_and_once_alone() -> None:
    tries = 0

    async def transact(work: object) -> None:
        nonlocal tries
        tries += 1
        raise StoreError("it is away")

    together = GroupCommit(transact)
    works = [together.do(insert(str(number))) for number in range(50)]
    results = await asyncio.gather(*works, return_exceptions=True)
    assert {str(result) for result in results} == {"it is away"}
    assert tries == 2


async def test_a_connection_stays_open_when_the_work_of_the_caller_fails(tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'x.db'}")
    opened: list[object] = []
    sa.event.listen(engine, "checkout", lambda *connection: opened.append(connection))
    threads = TransactionThreads(engine)

    def create(connection: Transaction) -> None:
        connection.execute(sa.text("CREATE TABLE t (x INTEGER UNIQUE)"))

    def fail(connection: Transaction) -> None:
        connection.execute(sa.text("INSERT INTO t VALUES (1)"))
        raise NotFoundError("no such session")

    def repeat(connection: Transaction) -> None:
        connection.execute(sa.text("INSERT INTO t VALUES (1), (1)"))

    await threads.run(create, writes=True)
    for work, error in ((fail, NotFoundError), (repeat, IntegrityError), (fail, NotFoundError)):
        with pytest.raises(error):
            await threads.run(work, writes=True)
    assert await threads.run(lambda connection: connection.scalar(COUNT), writes=True) == 0
    assert len(opened) == 1
    with pytest.raises(OperationalError):
        await threads.run(lambda connection: connection.execute(sa.text("SELECT * FROM gone")), writes=True)
    assert await threads.run(lambda connection: connection.scalar(COUNT), writes=True) == 0
    assert len(opened) == 2
    await threads.close()
