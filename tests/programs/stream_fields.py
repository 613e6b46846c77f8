# Fields of a structured answer while they arrive.
# replies: [{"text": "{\"title\": \"Oak\", \"uses\": [\"doors\", \"floors\"]}", "cut": 5}]
from dovetail import Agent

agent = Agent().output({"title": (str, "the wood"), "uses": [(str, "one use")]})
for event in agent.input("Describe oak.").get_generator("instant"):
    if event.is_complete:
        print(event.path, event.value)

# Output:
# title Oak
# uses[0] doors
# uses[1] floors
# uses ['doors', 'floors']
