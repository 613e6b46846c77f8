# A tool knows by a context variable for which user it runs, in runs side by side and in its thread.
# replies: [
#   {"when": "ann asks", "tool_calls": [{"name": "balance", "arguments": {}}]},
#   {"when": "bob asks", "tool_calls": [{"name": "balance", "arguments": {}}]},
#   {"when": "ann has 7", "text": "Seven."},
#   {"when": "bob has 9", "text": "Nine."}
# ]
import asyncio
from contextvars import ContextVar

from dovetail import Agent

user = ContextVar("user")
accounts = {"ann": 7, "bob": 9}


def balance() -> str:
    """Look up the balance of the user."""
    return f"{user.get()} has {accounts[user.get()]}"


agent = Agent(tools=[balance])


async def serve(name: str) -> str:
    user.set(name)
    return (await agent.async_run(f"{name} asks: how much do I have?")).text


async def main() -> None:
    print(await asyncio.gather(serve("ann"), serve("bob")))


asyncio.run(main())

# Output:
# ['Seven.', 'Nine.']
