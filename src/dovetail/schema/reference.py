"""References inside a schema: JSON pointers such as `#/$defs/item`."""

from typing import Any
from urllib.parse import unquote

from dovetail.data.shapes import is_list


def find_reference(root: Any, reference: str) -> Any:
    """Return the part of a schema that a reference within it names; None if it does not exist."""
    place, _, pointer = reference.partition("#")
    return None if place else follow_pointer(root, pointer)


def follow_pointer(value: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer, None if it does not exist; an empty pointer is the value itself."""
    for step in pointer.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(name)] if is_list(value) else value[name]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value
