# A person changes the arguments of a call before it runs.
# replies: [
#   {"tool_calls": [{"name": "pay", "arguments": {"to": "ann", "euros": 100}}]},
#   {"when": "paid 10", "text": "Ann has her money."}
# ]
from dovetail import Agent, Kind, tool


@tool(kind=Kind.Communicate)
def pay(to: str, euros: int) -> str:
    """Pay somebody."""
    return f"paid {euros} to {to}"


async def ask(kind, call_id, payload, time_limit):
    return {"approved": True, "edited_args": {**payload["args"], "euros": 10}}


print(Agent(tools=[pay]).run("Pay Ann.", ask=ask).text)

# Output:
# Ann has her money.
