"""Two tools in one folder, one sync and one async: an example to copy, disabled by default."""


def add(a: float, b: float) -> str:
    """Return the sum as text."""
    return str(a + b)


async def multiply(a: float, b: float) -> str:
    """Return the product as text."""
    return str(a * b)


NUMBERS = {
    "a": {"type": "number", "description": "First number", "required": True},
    "b": {"type": "number", "description": "Second number", "required": True},
}

TOOLS = [
    {
        "label": "math",
        "name": "add",
        "description": "Add two numbers",
        "kind": "think",
        "parameters": NUMBERS,
        "execute": add,
    },
    {
        "label": "math",
        "name": "multiply",
        "description": "Multiply two numbers",
        "kind": "think",
        "parameters": NUMBERS,
        "execute": multiply,
    },
]
