# The program ends with a stream half read, a response never read and a task that was not awaited: in silence.
# replies: [
#   {"when": "one", "steps": ["a", {"hold": "never"}]}, {"when": "two", "steps": ["b", {"hold": "never"}]},
#   {"when": "three", "steps": ["c", {"hold": "never"}], "repeat": true}
# ]
import asyncio

from dovetail import Agent

agent = Agent()
pieces = agent.input("one").get_generator()
print(next(pieces))
never_read = agent.input("never sent").get_response()


async def main():
    stream = agent.input("two").async_get_generator()
    print(await anext(stream))
    task = asyncio.create_task(agent.input("three").async_start())
    await asyncio.sleep(0.1)
    print(task.done())


asyncio.run(main())

# Output:
# a
# b
# False
