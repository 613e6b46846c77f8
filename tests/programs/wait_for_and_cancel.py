# asyncio's own limits and cancels, on one agent.
# replies: [
#   {"when": "slow", "steps": ["Well, ", {"hold": "never"}], "repeat": true}, {"when": "quick", "text": "Here."}
# ]
import asyncio

from dovetail import Agent

agent = Agent()


async def main():
    try:
        await asyncio.wait_for(agent.input("slow").async_start(), 0.2)
    except TimeoutError:
        print("timed out")
    task = asyncio.create_task(agent.input("slow, too").async_start())
    await asyncio.sleep(0.1)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("cancelled")
    async with asyncio.timeout(120):
        print(await agent.input("quick").async_start())


asyncio.run(main())

# Output:
# timed out
# cancelled
# Here.
