# A run that reaches its limit says which one to raise.
# replies: [{"tool_calls": [{"name": "look", "arguments": {}}]}, "I cannot find it."]
from dovetail import Agent


def look() -> str:
    """Look for the key."""
    return "Not here."


result = Agent(tools=[look]).run("Where is the key?", limits={"turns": 1})
print(result.text, result.limit)
print(result.notice)

# Output:
# I cannot find it. max-turns
# The limit of 1 turns is reached. Raise `limits={'turns': …}` of `run`, or `max_turns` of the agent.
