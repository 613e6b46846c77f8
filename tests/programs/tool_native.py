# A tool by function calling: the model calls it, is told the result and answers.
# replies: [
#   {"tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}, {"name": "add", "arguments": {"a": 10, "b": 20}, "call_id": "second"}]},
#   {"when": "30", "text": "5 and 30."}
# ]
from dovetail import Agent

agent = Agent().set_settings("tools.strategy", "native")


@agent.tool_func
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


response = agent.input("2 + 3, and 10 + 20?").get_response()
for event, data in response.get_generator("specific"):
    print(event, data["result"] if event == "tool" else data)

# Output:
# tool 5
# tool 30
# delta 5 and 30.
# done 5 and 30.
