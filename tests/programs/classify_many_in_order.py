# Five reviews are judged at the same time, and the answers come in the order of the questions.
# replies: [
#   {"when": "r0", "json": {"value": "good"}}, {"when": "r1", "json": {"value": "bad"}},
#   {"when": "r2", "text": "bad"}, {"when": "r3", "text": "\"good\""},
#   {"when": "r4", "text": "```json\n{\"value\": \"good\"}\n```"}
# ]
import asyncio
from typing import Literal

from dovetail import Agent

agent = Agent(system="You judge reviews.")


async def judge(review: str) -> Literal["good", "bad"]:
    return await agent.input(review).returns(Literal["good", "bad"]).async_start()


async def main() -> None:
    print(await asyncio.gather(*(judge(f"r{number}") for number in range(5))))


asyncio.run(main())

# Output:
# ['good', 'bad', 'bad', 'good', 'good']
