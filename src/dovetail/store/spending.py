"""What each day has spent, in the database: one row for the service, each owner and each agent with a limit.

All processes that share the database draw on the same rows. A request is booked with the most that it may
cost in the transaction that checks the limits, so two processes cannot both take the last of it.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from dovetail.events.spend import DayAccount, Need, Shortage, Spending
from dovetail.store.database import Database, Transaction
from dovetail.store.tables import spending

_KEY = (
    (spending.c.day == sa.bindparam("of_day"))
    & (spending.c.scope == sa.bindparam("of_scope"))
    & (spending.c.name == sa.bindparam("of_name"))
)
_READ = sa.select(spending.c.cost, spending.c.calls).where(_KEY)
_ADD = sa.text(
    "INSERT INTO spending (day, scope, name, cost, calls) VALUES (:day, :scope, :name, :cost, :calls) "
    "ON CONFLICT (day, scope, name) DO UPDATE "
    "SET cost = spending.cost + excluded.cost, calls = spending.calls + excluded.calls "
    "RETURNING cost, calls"
)


class SpendingTable:
    """The spending of days, shared by all processes of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(self, day: str, accounts: Sequence[DayAccount], need: Need) -> Shortage | None:
        """Book what a request needs in all accounts, or in none if one of them has too little."""
        return await self._database.write(lambda transaction: _reserve(transaction, day, accounts, need))

    async def correct(self, day: str, accounts: Sequence[DayAccount], cost: float, calls: int = 0) -> None:
        """Add to what is booked."""
        await self._database.write(lambda transaction: _add_all(transaction, day, accounts, cost, calls))

    async def read(self, day: str, accounts: Sequence[DayAccount]) -> list[Spending]:
        """Return what is booked in each account."""
        return await self._database.read(
            lambda transaction: [_read(transaction, day, account) for account in accounts]
        )


def _reserve(
    transaction: Transaction, day: str, accounts: Sequence[DayAccount], need: Need
) -> Shortage | None:
    """Add first and look then: whoever adds to a row has it until the end of the transaction."""
    totals = _add_all(transaction, day, accounts, need.cost, 1)
    for account, total in zip(_sorted(accounts), totals, strict=True):
        spent = Spending(cost=total.cost - need.cost, calls=total.calls - 1)
        limit = need.find_shortage(account.limits, spent)
        if limit is not None:
            _add_all(transaction, day, accounts, -need.cost, -1)
            return Shortage(limit=limit, limits=account.limits, spent=spent, need=need, account=account)
    return None


def _add_all(
    transaction: Transaction, day: str, accounts: Sequence[DayAccount], cost: float, calls: int
) -> list[Spending]:
    return [_add(transaction, day, account, cost, calls) for account in _sorted(accounts)]


def _sorted(accounts: Sequence[DayAccount]) -> list[DayAccount]:
    """Return the accounts in one order: transactions that take rows in different orders block each other."""
    return sorted(accounts, key=lambda account: account.key)


def _add(transaction: Transaction, day: str, account: DayAccount, cost: float, calls: int) -> Spending:
    values = {"day": day, "scope": account.scope, "name": account.name, "cost": cost, "calls": calls}
    row = transaction.execute(_ADD, values).one()
    return Spending(cost=row.cost, calls=row.calls)


def _read(transaction: Transaction, day: str, account: DayAccount) -> Spending:
    values = {"of_day": day, "of_scope": account.scope, "of_name": account.name}
    row = transaction.execute(_READ, values).first()
    return Spending() if row is None else Spending(cost=row.cost, calls=row.calls)
