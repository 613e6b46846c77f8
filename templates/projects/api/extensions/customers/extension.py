"""Looks customers up. The dict stands for your own system."""

from dovetail.errors import ToolError

CUSTOMERS = {"C-7": {"name": "Ann Smith", "plan": "business"}, "C-8": {"name": "Bo Li", "plan": "free"}}


def find_customer(number: str) -> dict[str, str]:
    """The customer with a number."""
    if number not in CUSTOMERS:
        raise ToolError(f"Unknown customer {number!r}. Customer numbers look like C-7.")
    return CUSTOMERS[number]


TOOL = {
    "label": "customers",
    "name": "find_customer",
    "description": "Look a customer up by number. Returns name and plan.",
    "kind": "read",
    "parameters": {
        "number": {"type": "string", "description": "Such as C-7", "pattern": "C-[0-9]+", "required": True},
    },
    "execute": find_customer,
}
