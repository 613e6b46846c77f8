# Tools can be added between requests; a redefinition, as in a notebook, takes the place of the first one.
# replies: [
#   "No tools yet.",
#   {"json": {"use_tool": true, "tool_command": {"purpose": "version", "tool_name": "version", "tool_kwargs": {}}}}, {"when": "version: 1", "text": "One."},
#   {"json": {"use_tool": true, "tool_command": {"purpose": "version", "tool_name": "version", "tool_kwargs": {}}}}, {"when": "version: 2", "text": "Two."}
# ]
from dovetail import Agent

agent = Agent()
print(agent.input("Which version?").start())


@agent.tool_func
def version() -> int:
    return 1


print(agent.input("Which version?").start())


@agent.tool_func
def version() -> int:  # noqa: F811
    return 2


print(agent.input("Which version?").start())
print([(tool.name, tool.description) for tool in agent.tools])

# Output:
# No tools yet.
# One.
# Two.
# [('version', 'version')]
