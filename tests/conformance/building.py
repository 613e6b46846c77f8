"""Build a case's prompts by the operations it lists; the two sides provide only their constructors."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conformance.notation import decode
from conformance.views import take


def apply(prompt: Any, layer: int, operations: list[Any], warned: list[str]) -> dict[str, Any]:
    """Run the operations in order; the result or error of each is a view of its own."""
    return {
        f"operation {layer}.{number}": take(lambda operation=operation: _do(prompt, *operation), warned)
        for number, operation in enumerate(operations)
    }


def _do(prompt: Any, name: str, *arguments: Any) -> Any:
    return _OPERATIONS[name](prompt, *[decode(argument) for argument in arguments])


@contextlib.contextmanager
def written(file: dict[str, Any]) -> Iterator[str]:
    """Yield the source of a configuration: its text, or the path of a file with it."""
    if not file.get("on_disk"):
        yield file["text"]
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "prompt")
        path.write_text(file["text"], encoding="utf-8")
        yield str(path)


def _nothing(_: Any) -> None:
    return None


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "set": lambda prompt, key, value, *mappings: _nothing(prompt.set(key, value, *mappings)),
    "append": lambda prompt, key, value, *mappings: _nothing(prompt.append(key, value, *mappings)),
    "update": lambda prompt, data, *mappings: _nothing(prompt.update(data, *mappings)),
    "delete": lambda prompt, key: _nothing(prompt.delete(key)),
    "item": lambda prompt, key, value: _nothing(prompt.__setitem__(key, value)),
    "get": lambda prompt, key, default, inherit: prompt.get(key, default, inherit),
}
