# asyncio.as_completed, and a semaphore that limits how many questions are asked at the same time.
# replies: [{"when": "1", "text": "one"}, {"when": "2", "text": "two"}, {"when": "3", "text": "three"}]
import asyncio

from dovetail import Agent

agent = Agent()


async def ask(number, limit):
    async with limit:
        return number, await agent.input(f"number {number}").async_start()


async def main():
    limit = asyncio.Semaphore(2)
    done = [await job for job in asyncio.as_completed([ask(number, limit) for number in (1, 2, 3)])]
    print(sorted(done))


asyncio.run(main())

# Output:
# [(1, 'one'), (2, 'two'), (3, 'three')]
