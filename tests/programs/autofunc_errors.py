# What cannot be a function of the model is refused where it is written.
from dovetail import Agent

agent = Agent()


def count(text):
    """Count."""


def numbers() -> int:
    """Count."""
    yield 1


def later(text: str) -> "Invoice":
    """Read."""


for function in (count, numbers, 3):
    try:
        agent.auto_func(function)
    except TypeError as error:
        print(error)
try:
    agent.auto_func(later)("x")
except TypeError as error:
    print(error)
try:
    agent.auto_func(later)()
except TypeError as error:
    print(error)

# Output:
# 'count' does not declare what it returns, so the model cannot know.
# Annotate it with a type, or with a schema such as {'name': (str, 'in English')}.
# 'numbers' is a generator, but a model answers once.
# Return the value; to act on its fields while they arrive, use agent.wait_keys.
# 3 is not a function.
# Write one with `def` or `async def`.
# 'later' returns 'Invoice', which is not defined.
# Define or import the type before the function is called.
# missing a required argument: 'text'
