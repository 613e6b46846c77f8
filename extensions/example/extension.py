"""Several tools in one folder, sync, async and in the browser: an example to copy, disabled by default."""


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
    {
        "label": "page",
        "name": "highlight",
        "description": "Highlight a passage on the page the user looks at. Returns how often it occurs.",
        "parameters": {"text": {"type": "string", "description": "The passage", "required": True}},
        "browser": True,  # web/highlight.js does it
    },
]
