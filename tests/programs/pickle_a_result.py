# The result of a run, with data of one's own class, survives a pickle and a deep copy.
# replies: [{"json": {"wood": "oak"}}]
import copy
import pickle
from dataclasses import dataclass

from dovetail import Agent


@dataclass
class Board:
    wood: str


result = Agent().run("A board.", returns=Board)
for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
    print(twin.data == result.data, twin.messages == result.messages, twin.usage == result.usage)

# Output:
# True True True
# True True True
