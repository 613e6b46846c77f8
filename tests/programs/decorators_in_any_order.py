# A tool with further decorators, above and below.
# replies: [
#   {"json": {"use_tool": true, "tool_command": {"purpose": "add", "tool_name": "add", "tool_kwargs": {"a": 1, "b": 2}}}},
#   {"when": "add: 3", "text": "Three."}
# ]
import functools

from dovetail import Agent

agent = Agent()


def loud(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print("called with", kwargs or args)
        return function(*args, **kwargs)

    return wrapper


@loud
@agent.tool_func
@loud
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


print(agent.input("1 + 2?").start())
print(add(3, 4))

# Output:
# called with {'a': 1, 'b': 2}
# Three.
# called with (3, 4)
# called with (3, 4)
# 7
