# Registered once, called for every request.
# replies: [{"json": {"title": "Oak"}}, {"json": {"title": "Ash"}}]
import asyncio

from dovetail import Agent

agent = Agent().output({"title": (str,)}, always=True).when_key("title", print)
agent.input("A tree").start_waiter()


async def main():
    print(await agent.input("Another").async_start_waiter())


asyncio.run(main())

# Output:
# Oak
# Ash
# [('title', 'Ash', None)]
