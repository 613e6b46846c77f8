# Two users share an agent; each handler hears only its own user's answer.
# replies: [{"when": "Ann", "json": {"name": "Ann"}}, {"when": "Ben", "json": {"name": "Ben"}}]
import asyncio

from dovetail import Agent

agent = Agent().output({"name": (str,)}, always=True)


async def serve(name):
    heard = []
    agent.when_key("name", heard.append)
    await asyncio.sleep(0)
    await agent.input(f"I am {name}").async_start_waiter()
    return heard


async def main():
    print(await asyncio.gather(serve("Ann"), serve("Ben")))


asyncio.run(main())

# Output:
# [['Ann'], ['Ben']]
