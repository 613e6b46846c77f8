# The result of one function, of another agent, is the argument of the next.
# replies: [{"when": "Write a poem", "text": "Oak, oak."}, {"when": "Oak, oak.", "json": {"value": "bad"}}]
from typing import Literal

from dovetail import Agent


@Agent("poet").auto_func
def write(topic: str) -> str:
    """Write a poem."""


@Agent("critic").auto_func
def judge(poem: str) -> Literal["good", "bad"]:
    """Judge the poem."""


print(judge(write("oak")))

# Output:
# bad
