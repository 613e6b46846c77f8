"""The orders of the shop, from its SQLite database; `web/` draws them on the page.

The model reads sentences, which small ones understand best; the page and programs get the rows.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from dovetail import ToolResult
from dovetail.errors import ToolError

_place: dict[str, Path] = {}

QUERY = """
SELECT number, customer, email, item, price, ordered, status, TOTAL(amount) AS refunded
FROM orders LEFT JOIN refunds USING (number)
WHERE number = :text OR email = :text OR customer LIKE :part
GROUP BY number ORDER BY ordered DESC
"""


def setup(context: Any) -> None:
    """Open the database of the workspace."""
    data = context.workspace / "data"
    _place["database"] = data / "shop.db"
    with closing(sqlite3.connect(_place["database"])) as connection:
        connection.executescript((data / "shop.sql").read_text(encoding="utf-8"))


def find_orders(search: str) -> ToolResult:
    """Return the orders with a number, or those of a customer, the newest first."""
    text = search.strip()
    with closing(sqlite3.connect(_place["database"])) as connection:
        connection.row_factory = sqlite3.Row
        given = {"text": text.upper() if text[:2].upper() == "A-" else text.lower(), "part": f"%{text}%"}
        rows = connection.execute(QUERY, given).fetchall() if text else []
    if not rows:
        raise ToolError(
            f"No order matches {text!r}. Search for an order number, an e-mail address or a name."
        )
    orders = [dict(row) for row in rows]
    counted = [f"{len(orders)} orders:"] if len(orders) > 1 else []
    text = "\n".join([*counted, *map(describe, orders)])
    return ToolResult(text, return_display=orders, data=orders)


def describe(order: dict[str, Any]) -> str:
    """Return an order as a sentence."""
    refunded = f", {order['refunded']:.2f} euros refunded" if order["refunded"] else ""
    return (
        f"Order {order['number']} of {order['customer']}: {order['item']} for {order['price']:.2f} euros, "
        f"ordered on {order['ordered']}, {order['status']}{refunded}."
    )


TOOL = {
    "label": "orders",
    "name": "find_orders",
    "title": "Find orders",
    "description": "Look up orders of the shop. Returns number, customer, item, price in euros, date, status "
    "and what was refunded of each order.",
    "kind": "read",
    "parameters": {
        "search": {
            "type": "string",
            "description": "An order number such as A-1003, or the customer's e-mail address or name",
            "required": True,
        }
    },
    "execute": find_orders,
}
