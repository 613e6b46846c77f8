# The messages of a run are plain data: saved as JSON, and continued by another program.
# replies: [
#   {"tool_calls": [{"name": "stock", "arguments": {}}]}, "Three.",
#   {"when": "Sure?", "text": "Yes, three."}
# ]
import json
from pathlib import Path

from dovetail import Agent


def stock() -> int:
    """Count."""
    return 3


result = Agent(tools=[stock]).run("How many?")
Path("talk.json").write_text(json.dumps(result.messages))

history = json.loads(Path("talk.json").read_text())
again = Agent(tools=[stock]).run("Sure?", history=history)
print(again.text, [message["role"] for message in again.messages])

# Output:
# Yes, three. ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant']
