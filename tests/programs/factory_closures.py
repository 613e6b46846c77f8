# Two agents made by one factory keep their own closures.
# replies: [
#   {"when": "Who am I, Ann?", "json": {"use_tool": true, "tool_command":
#     {"purpose": "who", "tool_name": "whoami", "tool_kwargs": {}}}},
#   {"when": "secret of ann", "text": "You are Ann."},
#   {"when": "Who am I, Bob?", "json": {"use_tool": true, "tool_command":
#     {"purpose": "who", "tool_name": "whoami", "tool_kwargs": {}}}},
#   {"when": "secret of bob", "text": "You are Bob."}
# ]
from dovetail import Agent


def make_agent(user):
    agent = Agent()

    @agent.tool_func
    def whoami() -> str:
        """Say who the user is."""
        return f"secret of {user}"

    return agent


ann, bob = make_agent("ann"), make_agent("bob")
print(ann.input("Who am I, Ann?").start())
print(bob.input("Who am I, Bob?").start())

# Output:
# You are Ann.
# You are Bob.
