# Arguments with defaults may be left out, and a value that is no choice is told with the choices.
# replies: [
#   {"tool_calls": [{"name": "find", "arguments": {"wood": "oak"}}]},
#   {"tool_calls": [{"name": "find", "arguments": {"wood": "oak", "unit": "mile"}, "call_id": "b"}]},
#   {"when": "inch", "tool_calls": [{"name": "find", "arguments": {"wood": "oak", "unit": "inch", "most": 1}, "call_id": "c"}]},
#   "Found."
# ]
from typing import Literal

from dovetail import Agent


def find(wood: str, most: int = 5, unit: Literal["cm", "inch"] = "cm") -> str:
    """Find boards."""
    print(wood, most, unit)
    return f"{most} boards"


print(Agent(tools=[find]).run("Oak boards, please.").text)

# Output:
# oak 5 cm
# oak 1 inch
# Found.
