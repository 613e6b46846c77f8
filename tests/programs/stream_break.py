# Leaving a stream early in a sync program; the end of the program is silent.
# replies: [{"steps": ["one ", "two ", {"hold": "never"}, "three"]}, "again"]
from dovetail import Agent

agent = Agent()
for piece in agent.input("Count.").get_generator("delta"):
    print(piece.strip())
    if "two" in piece:
        break
print(agent.input("Once more.").start())

# Output:
# one
# two
# again
