# The items of a typed list, each as soon as it is complete; afterwards the list as instances.
# replies: [{"text": "[{\"wood\": \"oak\"}, {\"wood\": \"ash\"}]", "cut": 6}]
from dataclasses import dataclass

from dovetail import Agent


@dataclass
class Board:
    wood: str


response = Agent().input("What is in stock?").returns(list[Board]).get_response()
for event in response.get_generator("instant"):
    if event.is_complete and event.path.endswith("wood"):
        print(event.value)
print(response.get_data_object())

# Output:
# oak
# ash
# [Board(wood='oak'), Board(wood='ash')]
