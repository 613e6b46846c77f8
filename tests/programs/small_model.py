# The embedded model, without any server: it answers, in sync code and several questions at once.
# model: local:small
# stderr: its answers are placeholders
import asyncio

from dovetail import Agent

agent = Agent().options({"max_tokens": 12}, always=True)
print(type(agent.input("Say hello.").start()).__name__)


async def main():
    answers = await asyncio.gather(*(agent.input(f"{n} + 1 = ?").async_start() for n in (1, 2)))
    print([type(answer).__name__ for answer in answers])


asyncio.run(main())

# Output holds:
# str
# ['str', 'str']
