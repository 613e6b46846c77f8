# An enum, a date and a number of cents; a value that is no member is asked for again.
# replies: [
#   {"json": {"level": "middling", "due": "2026-03-01", "price": "19.90"}},
#   {"json": {"level": "high", "due": "2026-03-01", "price": "19.90"}}
# ]
from datetime import date
from decimal import Decimal
from enum import Enum

from pydantic import BaseModel

from dovetail import Agent


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class Ticket(BaseModel):
    level: Level
    due: date
    price: Decimal


ticket = Agent().input("The saw is broken!").returns(Ticket).start()
print(ticket.level is Level.HIGH, ticket.due.year, ticket.price + 1)

# Output:
# True 2026 20.90
