# Leaving the stream of a run stops it: its call ends, and the next turn is not asked for.
# replies: [{"tool_calls": [{"name": "look", "arguments": {}}]}, {"when": "again", "text": "Hello again."}]
from dovetail import Agent
from dovetail.tools import ToolContext


async def look(context: ToolContext) -> str:
    """Look."""
    await context.cancelled.wait()
    return "nothing"


agent = Agent(tools=[look])
for event in agent.run_stream("Look around."):
    if event.type == "tool-start":
        break
print(agent.run("And again?").text)

# Output:
# Hello again.
