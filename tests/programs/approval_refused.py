# A person says no, with a reason: the tool does not run, and the model reads why.
# replies: [
#   {"tool_calls": [{"name": "delete", "arguments": {"path": "a.txt"}}]},
#   {"when": "keep it", "text": "I have kept it."}
# ]
from dovetail import Agent, Kind, tool


@tool(kind=Kind.Delete)
def delete(path: str) -> str:
    """Delete a file."""
    print("deleted", path)
    return "gone"


async def ask(kind, call_id, payload, time_limit):
    print(kind, payload["tool"], payload["args"])
    return {"approved": False, "reason": "keep it"}


print(Agent(tools=[delete]).run("Delete a.txt.", ask=ask).text)

# Output:
# approval delete {'path': 'a.txt'}
# I have kept it.
