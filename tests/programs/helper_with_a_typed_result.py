# A helper hands typed data to its boss, who returns typed data, too.
# replies: [
#   {"tool_calls": [{"name": "clerk", "arguments": {"task": "price of oak"}}]},
#   {"json": {"wood": "oak", "price": 48}},
#   {"when": "48", "tool_calls": [{"name": "complete_task", "arguments": {"result": {"total": 96}}, "call_id": "c"}]}
# ]
from dataclasses import dataclass

from dovetail import Agent


@dataclass
class Price:
    wood: str
    price: int


@dataclass
class Offer:
    total: int


clerk = Agent("clerk", system="You know prices.")
boss = Agent("boss", tools=[clerk.returns(Price)])
print(boss.run("Two boards of oak?", returns=Offer).data)

# Output:
# Offer(total=96)
