# Two agents of one name are two agents: prompts, settings and tools stay apart.
# replies: ["one", "two"]
from dovetail import Agent

first, second = Agent("helper"), Agent("helper")
first.use_tools(len).set_settings("tools.max_rounds", 0)
first.system("I am the first.", always=True)
print([tool.name for tool in first.tools], [tool.name for tool in second.tools])
print(second.settings.get("tools.max_rounds"), second.agent_prompt.get("system"))
print(first.input("Hello").start(), second.input("Hello").start())

# Output:
# ['len'] []
# 1 None
# one two
