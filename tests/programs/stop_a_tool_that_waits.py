# A thread stops a run whose tool waits for ever; the agent stays usable.
# replies: [{"tool_calls": [{"name": "wait", "arguments": {}}]}, "Ready."]
import asyncio
import threading

from dovetail import Agent
from dovetail.events import CancelSignal

stop, waiting = CancelSignal(), threading.Event()
agent = Agent()


@agent.tool_func
async def wait() -> str:
    """Wait for somebody who never comes."""
    waiting.set()
    await asyncio.Event().wait()
    return "came"


button = threading.Thread(target=lambda: waiting.wait() and stop.request())
button.start()
result = agent.run("Wait.", cancel=stop)
button.join()
print(result.reason, result.turns, repr(result.text))
print(agent.run("Are you ready?").text)

# Output:
# cancelled 1 ''
# Ready.
