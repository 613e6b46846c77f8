"""Give an agent a tool: a function with type hints and a docstring is enough."""

from typing import Literal

from dovetail import Agent

STOCK = {"oak": 12, "pine": 0, "ash": 3}


def count_stock(wood: Literal["oak", "pine", "ash"]) -> int:
    """Count the boards of a wood that are in stock."""
    return STOCK[wood]


if __name__ == "__main__":
    agent = Agent(system="You keep the stock of a wood shop.", tools=[count_stock])
    print(agent.input("Are there oak boards in stock?").start())
