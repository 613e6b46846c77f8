"""Ask several questions at once: one agent, one request each, all of them in progress at the same time."""

import asyncio
from typing import Literal

from dovetail import Agent

REVIEWS = [
    "The drawer is wonderful and still runs smoothly.",
    "Two screws were missing, and my letter was never answered.",
    "A good table. I would buy it again.",
]
agent = Agent()


@agent.auto_func
async def judge(review: str) -> Literal["happy", "unhappy"]:
    """Say whether the customer is happy."""
    ...


async def main() -> None:
    """Judge all reviews; `asyncio.gather` keeps their order."""
    feelings = await asyncio.gather(*(judge(review) for review in REVIEWS))
    for review, feeling in zip(REVIEWS, feelings, strict=True):
        print(f"{feeling}: {review}")


if __name__ == "__main__":
    asyncio.run(main())
