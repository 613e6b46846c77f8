# Typed requests, made first and sent later.
# replies: [
#   {"when": "Oak", "json": {"name": "Oak", "hardness": 6}}, {"when": "Balsa", "json": {"name": "Balsa", "hardness": 1}}
# ]
import asyncio
from dataclasses import dataclass

from dovetail import Agent


@dataclass
class Wood:
    name: str
    hardness: int


async def main():
    agent = Agent()
    requests = [agent.input(f"How hard is {name}?").returns(Wood) for name in ("Oak", "Balsa")]
    for wood in await asyncio.gather(*(request.async_start() for request in requests)):
        print(wood)


asyncio.run(main())

# Output:
# Wood(name='Oak', hardness=6)
# Wood(name='Balsa', hardness=1)
