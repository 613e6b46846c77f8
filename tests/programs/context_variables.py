# Tools see the context variables of whoever asks, also when they run in another thread.
# replies: [
#   {"when": "I am ann", "tool_calls": [{"name": "whoami", "arguments": {}}]}, {"when": "user=ann", "text": "Ann."},
#   {"when": "I am bob", "tool_calls": [{"name": "whoami", "arguments": {}}]}, {"when": "user=bob", "text": "Bob."}
# ]
import asyncio
import contextvars

from dovetail import Agent

current_user = contextvars.ContextVar("current_user")
agent = Agent().set_settings("tools.strategy", "native")


@agent.tool_func
def whoami() -> str:
    """Say who asks."""
    return f"user={current_user.get()}"


async def handle(user):
    current_user.set(user)
    return await agent.input(f"I am {user}. Who am I?").async_start()


async def main():
    print(await asyncio.gather(handle("ann"), handle("bob")))


asyncio.run(main())

# Output:
# ['Ann.', 'Bob.']
