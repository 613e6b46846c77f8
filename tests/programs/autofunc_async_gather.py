# Many calls at the same time, each with its own argument.
# replies: [{"when": "oak", "text": "OAK"}, {"when": "ash", "text": "ASH"}, {"when": "elm", "text": "ELM"}]
import asyncio

from dovetail import Agent

agent = Agent()


@agent.auto_func
async def shout(word: str) -> str:
    """Say it loud."""


async def main():
    print(await asyncio.gather(*(shout(word) for word in ("oak", "ash", "elm"))))


asyncio.run(main())

# Output:
# ['OAK', 'ASH', 'ELM']
