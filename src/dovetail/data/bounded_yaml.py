"""YAML from untrusted files, read with bounded work and memory.

A few lines of aliases (`b: [*a, *a]`, `c: [*b, *b]`, …) describe more values than fit into memory. Each
value is therefore counted as often as aliases repeat it, while the text is read and before anything is built.
"""

from typing import Any

from dovetail.lazy import lazy

_yaml = lazy("yaml")

LONGEST_TEXT = 1_000_000
MOST_VALUES = 100_000
DEEPEST = 100
_PER_VALUE = 64  # every 64 characters of a text count as one more value
_LONGEST_NUMBER = 1000


def load_yaml(text: str) -> Any:
    """Return the data of one YAML document, as `yaml.safe_load` does.

    Raises:
        yaml.YAMLError, ValueError, RecursionError: the text is not valid YAML or describes too much.
    """
    loader = _open(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def compose_yaml(text: str) -> Any:
    """Return the nodes of one YAML document with their lines; raise the same errors as `load_yaml`."""
    loader = _open(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _open(text: str) -> Any:
    if len(text) > LONGEST_TEXT:
        raise _yaml.YAMLError(f"{len(text)} characters exceed the limit of {LONGEST_TEXT}")
    loader = _yaml.SafeLoader(text)
    loader.compose_node = _Composer(loader).compose_node
    loader.yaml_constructors = {**loader.yaml_constructors, "tag:yaml.org,2002:int": _read_integer}
    return loader


class _Composer:
    """Composes nodes as a loader does, and counts each with everything below it, aliases included."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._compose = loader.compose_node
        self._values = 0
        self._depth = 0
        self._heights = [0]  # of each open node so far, the document's first
        self._measures: dict[int, tuple[int, int]] = {}  # by node: its values and its height

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node, or the one that an alias names."""
        event = self._loader.peek_event()
        if isinstance(event, _yaml.AliasEvent):
            node = self._compose(parent, index)
            values, height = self._measures.get(id(node), (0, 0))
            if not values:
                raise _refuse("a value contains itself through an alias (*name)", event)
            self._count(values, height, event)
        else:
            node, height = self._compose_new(parent, index, event)
        self._heights[-1] = max(self._heights[-1], height)
        return node

    def _compose_new(self, parent: Any, index: Any, event: Any) -> tuple[Any, int]:
        before = self._values
        self._heights.append(0)
        self._depth += 1
        self._count(1 + len(getattr(event, "value", "")) // _PER_VALUE, 0, event)
        node = self._compose(parent, index)
        self._depth -= 1
        height = self._heights.pop() + 1
        self._measures[id(node)] = self._values - before, height
        return node, height

    def _count(self, values: int, height: int, event: Any) -> None:
        """Add values that reach `height` levels below the open node."""
        self._values += values
        if self._values > MOST_VALUES:
            repeats = ", counting each as often as aliases (*name) repeat it" if self._loader.anchors else ""
            raise _refuse(f"it holds more than {MOST_VALUES} values{repeats}", event)
        if self._depth + height > DEEPEST:
            raise _refuse(f"it is nested too deeply, at most {DEEPEST} levels are read", event)


def _read_integer(loader: Any, node: Any) -> int:
    """Read an integer unless it is so long that even printing it would fail."""
    if len(node.value) > _LONGEST_NUMBER:
        raise _refuse(f"a number has {len(node.value)} digits, at most {_LONGEST_NUMBER} are read", node)
    return loader.construct_yaml_int(node)


def _refuse(problem: str, place: Any) -> Exception:
    return _yaml.MarkedYAMLError(None, None, problem, place.start_mark)
