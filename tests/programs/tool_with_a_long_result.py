# A long result reaches the program and the model whole.
# replies: [
#   {"json": {"use_tool": true, "tool_command": {"purpose": "read", "tool_name": "read_log", "tool_kwargs": {}}}},
#   {"when": "line-9999", "text": "Ten thousand lines."}
# ]
from dovetail import Agent

agent = Agent()


@agent.tool_func
def read_log() -> list[str]:
    """Read the log."""
    return [f"line-{number}" for number in range(10_000)]


response = agent.input("How long is the log?").get_response()
print(response.get_text())
print(len(response.extra["tool_logs"][0]["result"]))

# Output:
# Ten thousand lines.
# 10000
