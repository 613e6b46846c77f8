# A route that fails half way leaves nothing behind for the next user in the same thread of the pool.
# replies: [{"when": "bob", "text": "Hello Bob"}]
import asyncio
from concurrent.futures import ThreadPoolExecutor

from dovetail import Agent

agent = Agent()


def handle(name):
    agent.info(f"The password of {name}.")
    if name == "ann":
        raise ValueError("failed half way")
    print(agent.get_prompt_text().count("password"))
    return agent.input(f"I am {name}").start()


async def main():
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    try:
        await asyncio.to_thread(handle, "ann")
    except ValueError as error:
        print(error)
    print(await asyncio.to_thread(handle, "bob"))


asyncio.run(main())

# Output:
# failed half way
# 1
# Hello Bob
