# A loop of questions without a chat: each run continues from the result of the one before.
# replies: [
#   {"tool_calls": [{"name": "count", "arguments": {"item": "saw"}}]}, "Two saws.",
#   "Two are enough.",
#   "You asked about saws first."
# ]
from dovetail import Agent

agent = Agent()


@agent.tool_func
def count(item: str) -> int:
    """Count the pieces of an item."""
    return 2


history = []
for question in ["How many saws?", "Is that enough?", "What did I ask first?"]:
    result = agent.run(question, history=history)
    history = result.messages
    print(result.text, len(history))
print([message["role"] for message in history])

# Output:
# Two saws. 4
# Two are enough. 6
# You asked about saws first. 8
# ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user', 'assistant']
