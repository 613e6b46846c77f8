# Dataclasses give instances, typed dicts give dicts.
# replies: [{"json": {"name": "oak", "parts": [{"of": "leaf", "count": "3"}]}}, {"json": {"name": "ash"}}]
from dataclasses import dataclass, field
from typing import TypedDict

from dovetail import Agent


@dataclass
class Part:
    of: str
    count: int = 1


@dataclass
class Tree:
    name: str
    parts: list[Part] = field(default_factory=list)


class Name(TypedDict):
    name: str


agent = Agent()
print(agent.input("A tree").returns(Tree).start())
print(agent.input("A tree").returns(Name).start())

# Output:
# Tree(name='oak', parts=[Part(of='leaf', count=3)])
# {'name': 'ash'}
