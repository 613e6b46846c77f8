"""Refunds: rows in the shop's database. `policy.toml` of the workspace decides which need approval."""

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

from dovetail.errors import ToolError
from dovetail.tools import ToolContext

_place: dict[str, Any] = {}

QUERY = """
SELECT number, customer, item, price, ordered, price - TOTAL(amount) AS remaining
FROM orders LEFT JOIN refunds USING (number) WHERE number = ? GROUP BY number
"""


def setup(context: Any) -> None:
    """Open the database of the workspace, and read how long refunds are possible."""
    data: Path = context.workspace / "data"
    _place.update(database=data / "shop.db", days=context.settings.get("days", 30))
    with closing(sqlite3.connect(_place["database"])) as connection:
        connection.executescript((data / "shop.sql").read_text(encoding="utf-8"))


def check_refund(connection: sqlite3.Connection, number: str, amount: float) -> sqlite3.Row:
    """Return the order if it can be refunded."""
    connection.row_factory = sqlite3.Row
    order = connection.execute(QUERY, [number]).fetchone()
    if order is None:
        raise ToolError(f"Unknown order {number!r}. Look it up with find_orders.")
    age = (date.today() - date.fromisoformat(order["ordered"])).days
    if age > _place["days"]:
        raise ToolError(f"Order {number} is {age} days old; refunds end after {_place['days']} days.")
    if order["remaining"] <= 0:
        raise ToolError(f"Order {number} was already refunded in full.")
    if amount > order["remaining"]:
        raise ToolError(f"At most {order['remaining']:.2f} euros of order {number} can be refunded.")
    return order


def refund_order(order: str, amount: float, reason: str) -> str:
    """Store a refund; the check and the new row are one transaction."""
    number = order.strip().upper()
    with closing(sqlite3.connect(_place["database"], isolation_level="IMMEDIATE")) as connection, connection:
        connection.execute("BEGIN IMMEDIATE")
        found = check_refund(connection, number, amount)
        connection.execute(
            "INSERT INTO refunds (number, amount, reason) VALUES (?, ?, ?)", [number, amount, reason]
        )
    return (
        f"Done: refunded {amount:.2f} euros of order {number} ({found['item']}) to {found['customer']}. "
        "Nothing else is left to do."
    )


def show_refund(arguments: dict[str, Any], context: ToolContext) -> str:
    """Show what a refund would do to the person who is asked for approval."""
    number = arguments["order"].strip().upper()
    with closing(sqlite3.connect(_place["database"])) as connection:
        order = check_refund(connection, number, arguments["amount"])
    return (
        f"{order['customer']} bought {order['item']} for {order['price']:.2f} euros on {order['ordered']}.\n"
        f"{arguments['amount']:.2f} of the remaining {order['remaining']:.2f} euros would be paid back: "
        f"{arguments['reason']}"
    )


TOOL = {
    "label": "refunds",
    "name": "refund_order",
    "title": "Refund an order",
    "description": "Pay money of an order back to the customer, if the clerk asks for a refund.",
    "kind": "execute",
    "parameters": {
        "order": {"type": "string", "description": "The order number, such as A-1003", "required": True},
        "amount": {
            "type": "number",
            "description": "How much to pay back, in euros; at most the price",
            "exclusiveMinimum": 0,
            "required": True,
        },
        "reason": {"type": "string", "description": "Why, in a few words", "required": True},
    },
    "execute": refund_order,
    "preview": show_refund,
}
