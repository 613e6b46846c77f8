# Tasks write their requests in statements, with pauses in between, on one agent.
# replies: [
#   {"when": "Ann", "json": {"greeting": "Hello Ann"}}, {"when": "Bob", "json": {"greeting": "Hello Bob"}}
# ]
import asyncio

from dovetail import Agent

agent = Agent()


async def greet(name):
    agent.input(f"Greet {name}")
    await asyncio.sleep(0.01)
    agent.output({"greeting": (str, "one line")})
    await asyncio.sleep(0.01)
    return await agent.async_start()


async def main():
    print(await asyncio.gather(greet("Ann"), greet("Bob")))


asyncio.run(main())

# Output:
# [{'greeting': 'Hello Ann'}, {'greeting': 'Hello Bob'}]
