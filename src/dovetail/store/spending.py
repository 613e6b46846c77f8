"""What each day has spent, in the database: one row for the service, each owner, agent and run with a limit.

All processes that share the database draw on the same rows. A request is booked with the most that it may
cost in the transaction that checks the limits, so two processes cannot both take the last of it. What it
holds is a row of its own until it is settled: after a crash, the run that continues returns it. A step waits
while the database is away: a run neither fails for it nor spends what is not booked.
"""

import time
from collections.abc import Sequence

import sqlalchemy as sa

from dovetail.errors import StoreError
from dovetail.events.spend import Booking, DayAccount, Need, Shortage, Spending
from dovetail.store.database import Database, Transaction
from dovetail.store.persist import persist
from dovetail.store.tables import reservations, runs, spending

_LONGEST_REQUEST = 300.0
"""Seconds after which nothing waits for a request in progress any more: its process may be gone."""
_KEY = (
    (spending.c.day == sa.bindparam("of_day"))
    & (spending.c.scope == sa.bindparam("of_scope"))
    & (spending.c.name == sa.bindparam("of_name"))
)
_READ = sa.select(spending.c.cost, spending.c.calls, spending.c.tokens).where(_KEY)
_ADD = sa.text(
    "INSERT INTO spending (day, scope, name, cost, calls, tokens) "
    "VALUES (:day, :scope, :name, :cost, :calls, :tokens) "
    "ON CONFLICT (day, scope, name) DO UPDATE SET cost = spending.cost + excluded.cost, "
    "calls = spending.calls + excluded.calls, tokens = spending.tokens + excluded.tokens "
    "RETURNING cost, calls, tokens"
)
_HELD = (
    sa.select(sa.func.coalesce(sa.func.sum(reservations.c.cost), 0.0))
    .where(reservations.c.day == sa.bindparam("of_day"), reservations.c.scope == sa.bindparam("of_scope"))
    .where(reservations.c.name == sa.bindparam("of_name"), reservations.c.calls == 0)
    .where(reservations.c.created_at > sa.bindparam("since"))
)


class SpendingTable:
    """The spending of days, shared by all processes of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(
        self, day: str, accounts: Sequence[DayAccount], need: Need, booking: Booking | None = None
    ) -> Shortage | None:
        """Book what a request needs in all accounts, or in none if one of them has too little."""
        is_repeated = False

        def reserve(transaction: Transaction) -> Shortage | None:
            if is_repeated and booking is not None and _is_held(transaction, booking):
                return None
            return _reserve(transaction, day, accounts, need, booking)

        async def book() -> Shortage | None:
            nonlocal is_repeated
            try:
                return await self._database.write(reserve)
            except StoreError:
                is_repeated = True
                raise

        return await persist(book)

    async def settle(
        self, day: str, accounts: Sequence[DayAccount], request_id: str, held: float, spent: Spending
    ) -> None:
        """Replace what is held for a request by what it has spent; it may have been given back before."""

        def settle(transaction: Transaction) -> None:
            statement = sa.delete(reservations).where(reservations.c.id == request_id)
            is_held = transaction.execute(statement).rowcount > 0
            cost = spent.cost - (held if is_held else 0.0)
            more = Spending(cost=cost, calls=spent.calls - 1, tokens=spent.tokens)
            _add_all(transaction, day, accounts, more)

        await persist(lambda: self._database.write(settle))

    async def release(self, *, run_id: str = "", last_id: str = "") -> None:
        """Give back what is held for a run, or what is kept for its last answer."""

        def release(transaction: Transaction) -> None:
            if run_id:
                release_runs(transaction, [run_id])
            if last_id:
                _give_back(transaction, reservations.c.id == last_id)

        await persist(lambda: self._database.write(release))

    async def correct(self, day: str, accounts: Sequence[DayAccount], cost: float, calls: int = 0) -> None:
        """Add to what is booked."""
        more = Spending(cost=cost, calls=calls)
        await persist(
            lambda: self._database.write(
                lambda transaction: _add_all(transaction, day, accounts, more) and None
            )
        )

    async def read(self, day: str, accounts: Sequence[DayAccount]) -> list[Spending]:
        """Return what is booked in each account."""
        return await self._database.read(
            lambda transaction: [_read(transaction, day, account) for account in accounts]
        )


def release_runs(transaction: Transaction, run_ids: Sequence[str]) -> None:
    """Give back what requests of these runs hold, and what is kept for last answers in them."""
    _give_back(transaction, reservations.c.run_id.in_(run_ids))


def _reserve(
    transaction: Transaction, day: str, accounts: Sequence[DayAccount], need: Need, booking: Booking | None
) -> Shortage | None:
    """Add first and look then: whoever adds to a row has it until the end of the transaction."""
    if booking is not None and _has_ended(transaction, booking.run_id):
        return None  # in another process: nothing would give it back, and what this process writes is refused
    last_id = booking.last_id if booking else ""
    before = _give_back(transaction, reservations.c.id == last_id) if last_id else ()
    totals = _add_all(transaction, day, accounts, Spending(cost=need.cost, calls=1))
    for account, total in zip(_sorted(accounts), totals, strict=True):
        spent = Spending(cost=total.cost - need.cost, calls=total.calls - 1, tokens=total.tokens)
        limit = need.find_shortage(account.limits, spent)
        if limit is None:
            continue
        may_fit = limit == "max-cost" and _may_fit(transaction, day, account, need, spent)
        _add_all(transaction, day, accounts, Spending(cost=-need.cost, calls=-1))
        _keep_again(transaction, before)
        return Shortage(
            limit=limit, limits=account.limits, spent=spent, need=need, account=account, may_fit=may_fit
        )
    if booking is not None:
        _hold(transaction, day, accounts, booking, need)
    return None


def _has_ended(transaction: Transaction, run_id: str) -> bool:
    """Whether a stored run has ended; one that is in progress cannot end before this transaction."""
    state = sa.select(runs.c.state).where(runs.c.id == run_id).with_for_update(read=True)
    return transaction.execute(state).scalar() == "ended"


def _is_held(transaction: Transaction, booking: Booking) -> bool:
    """Whether a request is booked already: the database may go away after it has stored something."""
    statement = sa.select(reservations.c.id).where(reservations.c.id == booking.request_id)
    return transaction.execute(statement).first() is not None


def _may_fit(transaction: Transaction, day: str, account: DayAccount, need: Need, spent: Spending) -> bool:
    """Whether the request fits once those in progress have ended, if they cost nothing."""
    since = {"since": time.time() - _LONGEST_REQUEST}
    held = transaction.execute(_HELD, {**_name(day, account), **since}).scalar_one()
    settled = Spending(cost=spent.cost - held, calls=spent.calls, tokens=spent.tokens)
    return bool(held) and need.find_shortage(account.limits, settled) is None


def _hold(
    transaction: Transaction, day: str, accounts: Sequence[DayAccount], booking: Booking, need: Need
) -> None:
    """Note what is held: for the request, and for the last answer of its run."""
    held = [(booking.request_id, need.cost, 0)]
    if need.kept_calls:
        held.append((booking.last_id, need.kept_cost, need.kept_calls))
        _add_all(transaction, day, accounts, Spending(cost=need.kept_cost, calls=need.kept_calls))
    rows = [
        {
            "id": name,
            "scope": account.scope,
            "name": account.name,
            "day": account.day or day,
            "run_id": booking.run_id,
            "cost": cost,
            "calls": calls,
            "created_at": time.time(),
        }
        for name, cost, calls in held
        for account in accounts
    ]
    transaction.execute(sa.insert(reservations), rows)


def _give_back(transaction: Transaction, condition: sa.ColumnElement[bool]) -> Sequence[sa.RowMapping]:
    """Delete reservations, and take what they hold out of their accounts; return them."""
    found = transaction.execute(sa.delete(reservations).where(condition).returning(reservations))
    rows = sorted(found.mappings(), key=lambda row: (row["scope"], row["name"], row["day"]))
    for row in rows:
        _add_row(transaction, row, -1)
    return rows


def _keep_again(transaction: Transaction, rows: Sequence[sa.RowMapping]) -> None:
    for row in rows:
        _add_row(transaction, row, 1)
    if rows:
        transaction.execute(sa.insert(reservations), [dict(row) for row in rows])


def _add_row(transaction: Transaction, row: sa.RowMapping, sign: int) -> None:
    place = {name: row[name] for name in ("day", "scope", "name")}
    more = {"cost": sign * row["cost"], "calls": sign * row["calls"], "tokens": 0}
    transaction.execute(_ADD, {**place, **more})


def _add_all(
    transaction: Transaction, day: str, accounts: Sequence[DayAccount], more: Spending
) -> list[Spending]:
    return [_add(transaction, day, account, more) for account in _sorted(accounts)]


def _sorted(accounts: Sequence[DayAccount]) -> list[DayAccount]:
    """Return the accounts in one order: transactions that take rows in different orders block each other."""
    return sorted(accounts, key=lambda account: account.key)


def _add(transaction: Transaction, day: str, account: DayAccount, more: Spending) -> Spending:
    values = {"day": account.day or day, "scope": account.scope, "name": account.name}
    added = {"cost": more.cost, "calls": more.calls, "tokens": more.tokens}
    row = transaction.execute(_ADD, {**values, **added}).one()
    return Spending(cost=row.cost, calls=row.calls, tokens=row.tokens)


def _read(transaction: Transaction, day: str, account: DayAccount) -> Spending:
    row = transaction.execute(_READ, _name(day, account)).first()
    return Spending() if row is None else Spending(cost=row.cost, calls=row.calls, tokens=row.tokens)


def _name(day: str, account: DayAccount) -> dict[str, str]:
    return {"of_day": account.day or day, "of_scope": account.scope, "of_name": account.name}
