"""Write a requester: a cache around another one, which sends equal requests only once."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

from dovetail import Agent
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta
from dovetail.requesters import Requester


class Remembering:
    """Three facts about the model, and one async generator that yields its deltas."""

    def __init__(self, inner: Requester) -> None:
        self.model = inner.model
        self.follows_schema = inner.follows_schema
        self.calls_tools = inner.calls_tools
        self.asked = 0
        self._inner = inner
        self._answers: dict[str, list[Delta]] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the deltas as they arrive, or from the cache."""
        key = json.dumps([list(request.messages), request.schema, dict(request.options)], default=str)
        if key in self._answers:
            for delta in self._answers[key]:
                yield delta
            return
        self.asked += 1
        answer: list[Delta] = []
        async with aclosing(self._inner.stream(request)) as deltas:
            async for delta in deltas:
                answer.append(delta)
                yield delta
        self._answers[key] = answer  # only now: an incomplete answer must not be cached

    async def close(self) -> None:
        """Close the other requester."""
        await self._inner.close()


if __name__ == "__main__":
    remembering = Remembering(Agent().requester)
    agent = Agent(requester=remembering)
    for _ in range(3):
        print(agent.input("Which wood is light and strong?").start())
    print(f"asked {remembering.asked} time(s)")
