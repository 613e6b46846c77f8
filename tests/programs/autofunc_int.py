# A function whose body is the model returns what it promises.
# replies: [{"json": {"value": "42"}}]
from dovetail import Agent

agent = Agent()


@agent.auto_func
def count(text: str, least: int = 1) -> int:
    """Count the words."""


print(count("many words") + 1)
print(count.__name__, count.__doc__)

# Output:
# 43
# count Count the words.
