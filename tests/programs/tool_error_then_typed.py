# A tool that says no is read by the model, which answers with an object all the same.
# replies: [
#   {"tool_calls": [{"name": "find", "arguments": {"wood": "okk"}}]},
#   {"tool_calls": [{"name": "find", "arguments": {"wood": "oak"}}]},
#   {"tool_calls": [{"name": "complete_task", "arguments": {"result": {"wood": "oak", "metres": "a lot"}}}]},
#   {"tool_calls": [{"name": "complete_task", "arguments": {"result": {"wood": "oak", "metres": 12}}}]}
# ]
from pydantic import BaseModel

from dovetail import Agent
from dovetail.errors import ToolError


class Stock(BaseModel):
    wood: str
    metres: int


agent = Agent()


@agent.tool_func
def find(wood: str) -> int:
    """Find how many metres of a wood are in stock."""
    if wood != "oak":
        raise ToolError(f"There is no {wood}. We have: oak.")
    return 12


result = agent.returns(Stock).run("How much okk is there?")
print(result.data, result.turns)
print(next(message["content"] for message in result.messages if message["role"] == "tool"))

# Output:
# wood='oak' metres=12 4
# Error: There is no okk. We have: oak.
