# The model decides that it needs no tool.
# replies: [{"json": {"use_tool": false, "tool_command": null}}, "Hello!"]
from dovetail import Agent

agent = Agent()


@agent.tool_func
def delete_everything() -> None:
    """Delete everything."""
    print("gone")


response = agent.input("Say hello.").get_response()
print(response.get_text(), response.extra)

# Output:
# Hello! {}
