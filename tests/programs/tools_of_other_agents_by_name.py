# `use_tools("name")`: a tool for all, else the only one of that name, else an error that names the owners.
from dovetail import Agent
from dovetail.agent.runtime import default_runtime
from dovetail.errors import ConfigError

ann, bob, guest = Agent("ann"), Agent("bob"), Agent("guest")
ann.register_tool("search", "Search the web.", {"query": (str, "words")}, lambda query: "web")
print([tool.name for tool in guest.use_tools("search").tools])
bob.register_tool("search", "Search the shop.", {"query": (str, "words")}, lambda query: "shop")
other = Agent("other")
try:
    other.use_tools("search")
except ConfigError as error:
    print("agent 'ann'" in str(error), "agent 'bob'" in str(error))
default_runtime().manager.register("search", "Search all.", {"query": (str, "words")}, lambda query: "all")
print([tool.description for tool in other.use_tools("search").tools])

# Output:
# ['search']
# True True
# ['Search all.']
