# One agent in one event loop after the other, and in sync code between them.
# replies: ["one", "two", "three", "four"]
import asyncio

from dovetail import Agent

agent = Agent()
print(asyncio.run(agent.input("first").async_start()))
print(agent.input("second").start())
print(asyncio.run(agent.input("third").async_start()))
loop = asyncio.new_event_loop()
print(loop.run_until_complete(agent.input("fourth").async_start()))
loop.close()

# Output:
# one
# two
# three
# four
