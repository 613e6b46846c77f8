# The text is printed while it arrives.
# replies: [{"text": "one two three", "cut": 4}]
from dovetail import Agent

for piece in Agent().input("Count to three.").get_generator("delta"):
    print(repr(piece))

# Output:
# 'one '
# 'two '
# 'thre'
# 'e'
