# A web service makes an agent for each request; the tools are closures over the user.
# replies: [
#   {"when": "user 1", "tool_calls": [{"name": "list_orders", "arguments": {}}]},
#   {"when": "orders of 1", "text": "You ordered boards."},
#   {"when": "user 2", "tool_calls": [{"name": "list_orders", "arguments": {}}]},
#   {"when": "orders of 2", "text": "You ordered glue."}
# ]
import asyncio

from dovetail import Agent


async def handle(user_id):
    agent = Agent("shop").set_settings("tools.strategy", "native")

    @agent.tool_func
    async def list_orders() -> str:
        """List the user's orders."""
        await asyncio.sleep(0.01)
        return f"orders of {user_id}"

    return await agent.input(f"What did I order? I am user {user_id}").async_start()


async def serve():
    for answer in await asyncio.gather(handle(1), handle(2)):
        print(answer)


asyncio.run(serve())

# Output:
# You ordered boards.
# You ordered glue.
