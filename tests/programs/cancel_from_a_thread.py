# A button in another thread stops a run while a tool is at work.
# replies: [{"tool_calls": [{"name": "dig", "arguments": {}}]}]
import threading

from dovetail import Agent
from dovetail.events import CancelSignal
from dovetail.tools import ToolContext

cancel, digging = CancelSignal(), threading.Event()


async def dig(context: ToolContext) -> str:
    """Dig."""
    digging.set()
    await context.cancelled.wait()
    return "stopped"


def press() -> None:
    digging.wait()
    cancel.request("now")


button = threading.Thread(target=press)
button.start()
result = Agent(tools=[dig]).run("Dig!", cancel=cancel)
button.join()
print(result.reason, result.error)

# Output:
# cancelled None
