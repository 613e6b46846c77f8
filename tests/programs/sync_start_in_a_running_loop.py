# In a running event loop the plain `start()` works all the same, and says once that it blocks the loop.
# replies: ["one", "two", "three"]
# stderr: start() was called in a running event loop, which it blocks
import asyncio

from dovetail import Agent

agent = Agent()


def helper(question):
    return agent.input(question).start()


async def cell():
    print(helper("first"))
    print("".join(agent.input("second").get_generator()))
    print(await agent.input("third").async_start())


asyncio.run(cell())

# Output:
# one
# two
# three
