# The request is written in statements, not in one chain; the next one begins empty.
# replies: ["{\"name\": \"teal\"}", "Just text."]
from dovetail import Agent

agent = Agent()
agent.system("You name colours.", always=True)
agent.input("A colour between blue and green")
agent.output({"name": (str, "in English")})
print(agent.start())
agent.input("And now without a structure")
print(agent.start())

# Output:
# {'name': 'teal'}
# Just text.
