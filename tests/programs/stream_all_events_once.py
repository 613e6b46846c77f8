# The closing events come once each.
# replies: [{"text": "Hello", "reasoning": "A greeting.", "cut": 2}]
from collections import Counter

from dovetail import Agent

counted = Counter(event for event, _ in Agent().input("Hi").get_generator(type="all"))
for event in ("reasoning_done", "done", "meta"):
    print(event, counted[event])
print(counted["delta"] > 1)

# Output:
# reasoning_done 1
# done 1
# meta 1
# True
