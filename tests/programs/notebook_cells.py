# In a notebook a loop is running: the plain methods work there, and handlers stay from cell to cell.
# replies: [{"json": {"title": "Oak"}}, {"json": {"title": "Ash"}}, "Elm"]
import asyncio

from dovetail import Agent

agent = Agent()


async def notebook():
    agent.output({"title": (str,)}, always=True).when_key("title", print)
    agent.input("A tree").start_waiter()
    await agent.input("Another").async_start_waiter()
    print(Agent().input("A third").start())


asyncio.run(notebook())

# Output:
# Oak
# Ash
# Elm
