# Postponed annotations, a class inside a function.
# replies: [{"json": {"customer": "Ann", "total": 12.5}}]
from __future__ import annotations

from pydantic import BaseModel

from dovetail import Agent


def main() -> None:
    class Invoice(BaseModel):
        customer: str
        total: float

    @Agent().auto_func
    def read(text: str) -> Invoice:
        """Read the invoice."""

    invoice = read("Ann owes 12.50")
    print(type(invoice).__name__, invoice.total * 2)


main()

# Output:
# Invoice 25.0
