# A chat over several turns: what a tool said in the first one is known in the second one.
# replies: [
#   {"tool_calls": [{"name": "stock", "arguments": {"item": "chisel"}}]}, "There are three.",
#   {"when": "And half of them?", "text": "One and a half."}
# ]
from dovetail import Agent


def stock(item: str) -> int:
    """How many there are."""
    print("counting", item)
    return 3


chat = Agent(system="You sell tools.", tools=[stock]).chat("ann")
print(chat.run("How many chisels?").text)
print(chat.run("And half of them?").text)
print([message["role"] for message in chat.messages])

# Output:
# counting chisel
# There are three.
# One and a half.
# ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant']
