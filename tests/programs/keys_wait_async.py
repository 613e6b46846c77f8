# Two users of one agent wait at the same time.
# replies: [{"when": "Ann", "json": {"name": "Ann"}, "cut": 2}, {"when": "Ben", "json": {"name": "Ben"}, "cut": 2}]
import asyncio

from dovetail import Agent

agent = Agent().output({"name": (str,)}, always=True)


async def ask(name):
    return [pair async for pair in agent.input(f"I am {name}").async_wait_keys(["name"])]


async def main():
    print(await asyncio.gather(ask("Ann"), ask("Ben")))


asyncio.run(main())

# Output:
# [[('name', 'Ann')], [('name', 'Ben')]]
