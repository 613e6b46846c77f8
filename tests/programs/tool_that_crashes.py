# A crash in a tool is told to the model, and to the developer in the log.
# stderr: ZeroDivisionError
# replies: [
#   {"tool_calls": [{"name": "divide", "arguments": {"a": 1, "b": 0}}]},
#   {"when": "ZeroDivisionError", "text": "That has no result."}
# ]
from dovetail import Agent

agent = Agent().set_settings("tools.strategy", "native")


@agent.tool_func
def divide(a: int, b: int) -> float:
    """Divide two numbers."""
    return a / b


print(agent.input("1 / 0?").start())

# Output:
# That has no result.
