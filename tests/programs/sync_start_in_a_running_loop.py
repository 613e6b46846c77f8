# A notebook has a running event loop; the plain `start()` works in it all the same.
# replies: ["one", "two", "three"]
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
