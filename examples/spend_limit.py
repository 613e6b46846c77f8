"""Limit what an agent may spend: it answers with its last request, and says which limit it reached."""

from dovetail import Agent
from dovetail.errors import LimitError

STOCK = {"oak": 48.0, "pine": 12.5, "ash": 39.0}


def find_price(wood: str) -> float:
    """Return the price of a board in euros."""
    return STOCK[wood]


if __name__ == "__main__":
    agent = Agent(
        system="You sell wood.",
        tools=[find_price],
        settings={"limits": {"calls": 3, "agent_day": {"calls": 3}}},
    )
    result = agent.run("What does an oak board cost?")
    print(result.text)
    if result.limit:
        print(f"{result.limit}: {result.notice}")
    try:
        print(agent.input("And a pine board?").start())
    except LimitError as error:
        print(f"{error.limit}: {error.message}")
