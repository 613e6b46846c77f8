# Role, rules and what is known about the user stand together under the system slot.
from dovetail import Agent

agent = Agent().role("clerk", always=True).rule(["be polite", "be brief"]).user_info({"name": "Ann"})
agent.system("You sell wood.").input("What is new?")
system = agent.request_prompt.get("system")
for key in ("general", "role", "rule", "user_info"):
    print(key, "=", system[key])
print(agent.agent_prompt.get("system")["role"])

# Output:
# general = You sell wood.
# role = clerk
# rule = ['be polite', 'be brief']
# user_info = {'name': 'Ann'}
# clerk
