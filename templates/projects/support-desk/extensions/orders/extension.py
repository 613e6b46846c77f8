"""Orders and refunds. The file orders.json stands for your own system."""

import json
from pathlib import Path
from typing import Annotated, Any

from dovetail import tool
from dovetail.errors import ToolError
from dovetail.tools import ToolContext

SETTINGS = {
    "max_refund": {"type": "number", "description": "The highest refund", "minimum": 0, "default": 50},
    "currency": {"type": "string", "description": "Of all amounts", "default": "EUR"},
}

Number = Annotated[str, "The number of the order, such as A-1001"]


@tool(kind="read")
def find_order(number: Number) -> dict[str, Any]:
    """Find an order. Returns customer, items, total, what was refunded, and the date of delivery."""
    orders = json.loads((Path(__file__).parent / "orders.json").read_text(encoding="utf-8"))
    number = number.strip().upper()
    if number not in orders:
        raise ToolError(f"Unknown order {number!r}. Expected one of: {', '.join(orders)}.")
    return {"number": number, **orders[number]}


def _show_refund(arguments: dict[str, Any], context: ToolContext) -> str:
    """What a refund would do, for the person who is asked."""
    order = find_order(arguments["number"])
    amount = f"{arguments['amount']:.2f} {context.settings['currency']}"
    return f"Refund {amount} of {order['total']:.2f} to {order['customer']}: {arguments['reason']}"


@tool(kind="write", preview=_show_refund)
def refund(
    number: Number,
    amount: Annotated[float, "How much"],
    reason: Annotated[str, "A few words for the books"],
    context: ToolContext,
) -> str:
    """Refund a part of an order to the customer. A person approves it first."""
    order, limit = find_order(number), context.settings["max_refund"]
    left = order["total"] - order["refunded"]
    if not 0 < amount <= min(left, limit):
        raise ToolError(f"The amount must be above 0 and at most {min(left, limit):.2f}, got {amount:.2f}.")
    # Here your own system would be called.
    return f"Refunded {amount:.2f} {context.settings['currency']} to {order['customer']} ({number}): {reason}"
