# Everything that can be called can be a tool: functions, methods, class methods, partials, lambdas, objects.
import functools

from dovetail import Agent
from dovetail.agent.runtime import default_runtime


class Shop:
    def __init__(self, town):
        self.town = town

    def find(self, item: str) -> str:
        """Find an item."""
        return f"{item} in {self.town}"

    @classmethod
    def describe(cls) -> str:
        """Describe the shop."""
        return cls.__name__

    def __call__(self, price: int) -> int:
        """Compute the price with tax."""
        return price * 2


def power(base: int, exponent: int) -> int:
    """Compute a power."""
    return base**exponent


agent = Agent()
agent.use_tools([Shop("Bern").find, Shop.describe, Shop("Bern")])
agent.register_tool(
    "square", "Square a number.", {"base": (int, "a number")}, functools.partial(power, exponent=2)
)
agent.register_tool("twice", "Double a number.", {"n": (int, "a number")}, lambda n: n * 2)
print([tool.name for tool in agent.tools])
call = default_runtime().manager.call_tool
print(call("find", {"item": "oak"}), call("describe"), call("square", {"base": 7}), call("twice", {"n": 4}))

# Output:
# ['find', 'describe', 'Shop', 'square', 'twice']
# oak in Bern Shop 49 8
