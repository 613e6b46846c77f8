# A stream of text leaves out what stands in think tags.
# replies: [{"text": "<think>Polite?</think>Hello.", "cut": 2}]
from dovetail import Agent

print("".join(Agent().input("Hi").get_generator()))

# Output:
# Hello.
