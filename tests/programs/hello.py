# The shortest program.
# replies: ["Hello!"]
from dovetail import Agent

print(Agent().input("Say hello.").start())

# Output:
# Hello!
