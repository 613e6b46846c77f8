# What goes wrong in a tool is told to the model, which answers all the same.
# replies: [
#   {"json": {"use_tool": true, "tool_command": {"purpose": "divide", "tool_name": "divide", "tool_kwargs": {"a": 1, "b": 0}}}},
#   {"when": "Nothing can be divided by zero.", "text": "That has no result."}
# ]
from dovetail import Agent
from dovetail.errors import ToolError

agent = Agent()


@agent.tool_func
def divide(a: float, b: float) -> float:
    """Divide two numbers."""
    if b == 0:
        raise ToolError("Nothing can be divided by zero.")
    return a / b


response = agent.input("1 / 0?").get_response()
print(response.get_text())
print(response.extra["tool_logs"][0]["result"])

# Output:
# That has no result.
# Nothing can be divided by zero.
