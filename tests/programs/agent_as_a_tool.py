# One agent is a tool of another.
# replies: [
#   {"when": "Write about oak", "tool_calls": [{"name": "ask_expert", "arguments": {"question": "What is oak?"}}]},
#   {"when": "What is oak?", "text": "A hard wood."},
#   {"when": "A hard wood.", "text": "Oak is a hard wood."}
# ]
from dovetail import Agent

expert = Agent("expert").role("a carpenter", always=True)
writer = Agent("writer").set_settings("tools.strategy", "native")


@writer.tool_func
async def ask_expert(question: str) -> str:
    """Ask the expert."""
    return await expert.input(question).async_start()


print(writer.input("Write about oak").start())

# Output:
# Oak is a hard wood.
