"""Ask before something happens: a tool that changes things waits for an answer in the terminal."""

import asyncio
from collections.abc import Mapping
from typing import Any

from dovetail import Agent, Kind, tool
from dovetail.events.run_events import AskKind

ORDERS: list[str] = []


@tool(kind=Kind.Execute)
def order_boards(wood: str, count: int) -> str:
    """Order boards at the sawmill. This costs money."""
    ORDERS.append(f"{count} x {wood}")
    return f"Ordered {count} boards of {wood}."


async def ask(
    kind: AskKind, call_id: str, payload: Mapping[str, Any], seconds: float | None
) -> Mapping[str, Any]:
    """Show the call and read the answer; whatever is typed after `n` is passed on to the model."""
    print(f"The agent wants to call {payload['tool']} with {payload['args']}.")
    answer, _, reason = (await asyncio.to_thread(input, "Allow it? [y/N] ")).strip().partition(" ")
    return {"approved": answer.lower() in ("y", "yes"), "reason": reason}


if __name__ == "__main__":
    agent = Agent(system="You run the store room of a wood shop.", tools=[order_boards])
    result = agent.run("Please order 12 boards of oak at the sawmill.", ask=ask)
    print(result.text)
    print("Orders:", ", ".join(ORDERS) or "none")
