# Numbers, choices, enums, optional values, lists and dicts.
# replies: [{"json": {"value": 3}}, {"json": {"value": "b"}}, {"json": {"value": "red"}}, {"json": {"value": null}},
#   {"json": [1, 2]}, {"json": {"value": {"a": 1}}}, "plain"]
from enum import Enum
from typing import Literal, Optional

from dovetail import Agent


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


agent = Agent()
for kind in (int, Literal["a", "b"], Colour, Optional[int], list[int], dict[str, int], str):  # noqa: UP045
    print(repr(agent.input("Go").returns(kind).start()))

# Output:
# 3
# 'b'
# <Colour.RED: 'red'>
# None
# [1, 2]
# {'a': 1}
# 'plain'
