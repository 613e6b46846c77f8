# Methods, defaults, *args and **kwargs.
# replies: [{"when": "more:\n- 2\n- 3", "json": {"value": 6}}, {"when": "rounded: true", "json": {"value": true}}]
from dovetail import Agent

agent = Agent()


class Desk:
    @agent.auto_func
    def add(self, first: int, *more: int) -> int:
        """Add the numbers."""

    @staticmethod
    @agent.auto_func
    def check(total: float, **options: bool) -> bool:
        """Is it right?"""


print(Desk().add(1, 2, 3))
print(Desk.check(6.0, rounded=True))

# Output:
# 6
# True
