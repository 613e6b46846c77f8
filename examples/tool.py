"""Give an agent a tool: a function with type hints and a docstring is enough."""

from typing import Literal

from dovetail import Agent

STOCK = {"oak": 12, "pine": 0, "ash": 3}


def count_boards(wood: Literal["oak", "pine", "ash"]) -> int:
    """Return how many boards of a wood are in stock."""
    return STOCK[wood]


if __name__ == "__main__":
    agent = Agent(system="You keep the stock of a wood shop.", tools=[count_boards])
    print(agent.input("How many boards of oak are in stock?").start())
