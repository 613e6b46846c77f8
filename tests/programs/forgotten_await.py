# A forgotten `await` sends nothing, is named in Python's warning, and does not spoil the next request.
# replies: [{"when": "second", "text": "two"}]
# stderr: async_start' was never awaited
import asyncio

from dovetail import Agent


async def main():
    agent = Agent()
    agent.input("first").async_start()
    print(await agent.input("second").async_start())


asyncio.run(main())

# Output:
# two
