# Two agents have different tools of one name.
# replies: [
#   {"json": {"use_tool": true, "tool_command": {"purpose": "look it up", "tool_name": "search", "tool_kwargs": {"query": "oak"}}}},
#   {"when": "wiki: oak", "text": "A tree."},
#   {"json": {"use_tool": true, "tool_command": {"purpose": "look it up", "tool_name": "search", "tool_kwargs": {"query": "oak"}}}},
#   {"when": "shop: oak", "text": "40 euros."}
# ]
from dovetail import Agent

writer = Agent("writer")
buyer = Agent("buyer")


@writer.tool_func
def search(query: str) -> str:
    """Search the encyclopedia."""
    return f"wiki: {query}"


def search_shop(query):
    return f"shop: {query}"


buyer.register_tool("search", "Search the shop.", {"query": (str, "what to buy")}, search_shop)
print(writer.input("What is oak?").start())
print(buyer.input("How much is oak?").start())

# Output:
# A tree.
# 40 euros.
