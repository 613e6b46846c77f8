# Either of two classes is the answer, and the prompt says what they hold.
# replies: [{"json": {"value": {"bark": "loud"}}}, {"json": {"value": {"lives": 9}}}]
from dataclasses import dataclass

from dovetail import Agent


@dataclass
class Cat:
    lives: int


@dataclass
class Dog:
    bark: str


agent = Agent()
print(agent.input("Which pet?").returns(Cat | Dog).start())
print(agent.input("Which pet?").returns(Cat | Dog).start())

# Output:
# Dog(bark='loud')
# Cat(lives=9)
