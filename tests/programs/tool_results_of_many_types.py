# What a tool returns reaches the model as text that it can read: models, dataclasses, dates, nothing.
# replies: [
#   {"tool_calls": [{"name": "read", "arguments": {"what": "model"}}]},
#   {"when": "{\"wood\": \"oak\"}", "tool_calls": [{"name": "read", "arguments": {"what": "dataclass"}, "call_id": "b"}]},
#   {"when": "{\"count\": 3}", "tool_calls": [{"name": "read", "arguments": {"what": "date"}, "call_id": "c"}]},
#   {"when": "2026-03-01", "tool_calls": [{"name": "read", "arguments": {"what": "nothing"}, "call_id": "d"}]},
#   "Read."
# ]
from dataclasses import dataclass
from datetime import date

from pydantic import BaseModel

from dovetail import Agent


class Board(BaseModel):
    wood: str


@dataclass
class Stock:
    count: int


def read(what: str) -> object:
    """Read something."""
    return {"model": Board(wood="oak"), "dataclass": Stock(3), "date": date(2026, 3, 1)}.get(what)


print(Agent(tools=[read]).run("Read all.").text)

# Output:
# Read.
