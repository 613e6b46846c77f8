# The model names a tool that is not there, and one with wrong arguments; both times it is told.
# replies: [
#   {"json": {"use_tool": true, "tool_command": {"purpose": "the time", "tool_name": "get_tme", "tool_kwargs": {}}}},
#   {"when": "get_tme", "text": "I do not know."},
#   {"json": {"use_tool": true, "tool_command": {"purpose": "the time", "tool_name": "get_time", "tool_kwargs": {"zone": 7}}}},
#   {"when": "zone", "text": "I cannot tell."}
# ]
from dovetail import Agent

agent = Agent()


@agent.tool_func
def get_time(city: str) -> str:
    """Tell the time in a city."""
    return "noon"


for question in ("What time is it?", "What time is it in Oslo?"):
    response = agent.input(question).get_response()
    print(response.get_text(), "|", type(response.extra["tool_logs"][0]["result"]).__name__)

# Output:
# I do not know. | str
# I cannot tell. | str
