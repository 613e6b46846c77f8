# A tool in the judging way: the model plans, the tool runs, the model answers.
# replies: [
#   {"json": {"use_tool": true, "tool_command":
#     {"purpose": "the weather in Oslo", "tool_name": "get_weather", "tool_kwargs": {"city": "Oslo"}}}},
#   {"when": "Oslo: 3 degrees, snow", "text": "Take a coat."}
# ]
from dovetail import Agent

agent = Agent()


@agent.tool_func
def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"{city}: 3 degrees, snow"


response = agent.input("What should I wear in Oslo?").get_response()
print(response.get_text())
for log in response.extra["tool_logs"]:
    print(log["tool_name"], log["kwargs"], log["result"])

# Output:
# Take a coat.
# get_weather {'city': 'Oslo'} Oslo: 3 degrees, snow
