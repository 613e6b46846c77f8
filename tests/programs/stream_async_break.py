# Leaving an async stream early stops the request; the agent goes on with the next one.
# replies: [{"steps": ["one ", "two ", {"hold": "never"}, "three"]}, "again"]
import asyncio

from dovetail import Agent


async def main():
    agent = Agent()
    async for piece in agent.input("Count.").async_get_generator("delta"):
        print(piece.strip())
        if "two" in piece:
            break
    print(await agent.input("Once more.").async_start())


asyncio.run(main())

# Output:
# one
# two
# again
