"""A difference between the two sides, and small checks that distinguish its kinds."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import yaml

_BY_RULE = re.compile(
    "Prompt requires at least one of|an output model needs a schema|prompt slot |.* must be a mapping"
    "|Please use `typing_extensions"
)
"""The errors that a prompt has by the rules or by pydantic, and which the original's crash hides."""


@dataclass(frozen=True)
class Difference:
    """A view of a case that differs between the two sides."""

    case: dict[str, Any]
    view: str
    theirs: dict[str, Any]
    ours: dict[str, Any]

    @property
    def their_view(self) -> dict[str, Any]:
        return self.theirs[self.view]

    @property
    def our_view(self) -> dict[str, Any]:
        return self.ours[self.view]

    @property
    def kind(self) -> str:
        """The first word of the view."""
        return self.view.partition(" ")[0]

    @property
    def both_give_results(self) -> bool:
        return "error" not in self.their_view and "error" not in self.our_view

    def with_their_view(self, their_view: dict[str, Any]) -> "Difference":
        """Return the same difference with another result of the original."""
        return replace(self, theirs={**self.theirs, self.view: their_view})

    def slot(self, name: str) -> Any:
        """Return the final value of a slot as a note, if any."""
        data = self.ours.get("data", {}).get("result") or {"dict": []}
        return next((value for key, value in data["dict"] if key == name), None)

    def operations(self, *names: str) -> Iterator[list[Any]]:
        """Return the operations of the case, all or those with these names."""
        for layer in self.case.get("layers", []):
            yield from (operation for operation in layer if not names or operation[0] in names)


def walk(note: Any) -> Iterator[Any]:
    """Yield a note and all notes inside it."""
    yield note
    inner: Any = note.values() if isinstance(note, dict) else note if isinstance(note, list) else ()
    for item in inner:
        yield from walk(item)


def holds(note: Any, *kinds: str) -> bool:
    """Return whether a note contains a value of such a kind."""
    return any(isinstance(part, dict) and any(kind in part for kind in kinds) for part in walk(note))


def crash(*kinds: str, error: str, message: str, may_fail: bool = False) -> Callable[[Difference], bool]:
    """Return whether the original fails like this and Dovetail gives a result, or an error of a rule.

    With `may_fail`, Dovetail may have any error.
    """

    def settles(difference: Difference) -> bool:
        theirs = difference.their_view
        return (
            "error" in theirs
            and (may_fail or _is_by_rule(difference.our_view))
            and theirs["error"][0] == error
            and re.match(message, theirs["message"]) is not None
            and (not kinds or difference.kind in kinds)
        )

    return settles


def _is_by_rule(view: dict[str, Any]) -> bool:
    return "error" not in view or _BY_RULE.match(view["message"]) is not None


def same_without(slot: str, difference: Difference) -> bool:
    """Return whether two exports are the same except for one slot, at any level."""
    if not difference.both_give_results or not re.search("serializable|json|yaml", difference.view):
        return False
    return _drop(slot, difference, "theirs") == _drop(slot, difference, "ours")


def _drop(slot: str, difference: Difference, side: str) -> Any:
    result = getattr(difference, side)[difference.view]["result"]
    if difference.kind == "serializable":
        return [pair for pair in result["dict"] if pair[0] != slot]
    if "json" in difference.view:
        return _drop_from_data(json.loads(result), slot)
    try:
        node = yaml.compose(result)
        if not isinstance(node, yaml.MappingNode):
            return result
        return yaml.serialize(_sort_sets(_drop_from_node(node, slot)))
    except yaml.YAMLError:
        return result


def _drop_from_data(data: Any, slot: str) -> Any:
    if ".agent" in data:
        return [(key, _drop_from_data(value, slot)) for key, value in data.items()]
    return [(key, value) for key, value in data.items() if key != slot]


def _drop_from_node(node: Any, slot: str) -> Any:
    for key, value in node.value:
        if key.value in (".agent", ".request"):
            _drop_from_node(value, slot)
    node.value = [(key, value) for key, value in node.value if key.value != slot]
    return node


def _sort_sets(node: Any) -> Any:
    """Return the node with the items of its sets in a fixed order."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _sort_sets(item)
    elif isinstance(node, yaml.MappingNode):
        if node.tag == "tag:yaml.org,2002:set":
            node.value.sort(key=lambda pair: str(pair[0].value))
        for _, value in node.value:
            _sort_sets(value)
    return node
