# An output schema as annotation gives data.
# replies: [{"json": {"mood": "calm", "words": ["a", "b"]}}]
from dovetail import Agent


@Agent().auto_func
def look(text: str) -> {"mood": (str, "one word"), "words": [(str, "found")]}:
    """Look closely."""


print(look("Hm."))

# Output:
# {'mood': 'calm', 'words': ['a', 'b']}
