# A tool asks its own agent another question; the question under way is not disturbed.
# replies: [
#   {"when": "Plan a trip", "json": {"use_tool": true, "tool_command": {"purpose": "weather", "tool_name": "ask_weather", "tool_kwargs": {"town": "Bern"}}}},
#   {"when": "Weather in Bern?", "json": {"use_tool": false, "tool_command": null}},
#   {"when": "Weather in Bern?", "text": "Sunny."},
#   {"when": "weather: Sunny.", "text": "Go to Bern."}
# ]
from dovetail import Agent

agent = Agent()


@agent.tool_func
def ask_weather(town: str) -> str:
    """Ask for the weather in a town."""
    return agent.input(f"Weather in {town}?").start()


print(agent.input("Plan a trip").info("on foot").start())

# Output:
# Go to Bern.
