# A long tool shows how far it is, to whoever follows the run.
# replies: [{"tool_calls": [{"name": "saw", "arguments": {"boards": 2}}]}, "Sawn."]
from dovetail import Agent
from dovetail.tools import ToolContext


async def saw(boards: int, context: ToolContext) -> str:
    """Saw boards."""
    for number in range(1, boards + 1):
        context.update(f"board {number} of {boards}")
    return "done"


for event in Agent(tools=[saw]).run_stream("Saw two boards."):
    if event.type == "tool-progress":
        print(event.output)

# Output:
# board 1 of 2
# board 2 of 2
