"""A case without the cause of a deviation: what is left must be the same on both sides.

A deviation that is recognized by the operations of a case would settle any difference of that case. So the
case is compared a second time without these operations.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from conformance.differences import holds, walk

Case = dict[str, Any]
MODELS = ("Plank", "Stack", "Note")

_ODD_BREAK = re.compile(r"[\x85\u2028\u2029]|\\\\u(?:0085|2028|2029)")
"""Such a character, or its escape in the text of a file."""
_LIST_TYPE = re.compile(r"list\[|typing.List")


def write_history_once(case: Case) -> Case:
    """Keep the first write of the history."""
    return _keep_operations(case, _OnceOnly("chat_history"))


def assign_nothing_twice(case: Case) -> Case:
    """Leave out assignments to keys that exist, and those below new keys."""
    return {**case, "layers": [_assign_once(layer) for layer in case.get("layers", [])]}


def _assign_once(layer: list[Any]) -> list[Any]:
    kept: list[Any] = []
    seen: set[str] = set()
    for operation in layer:
        roots = _find_roots(operation)
        is_deep = "." in str(operation[1]) and holds(operation[2:], "object")
        if operation[0] != "item" or not (roots & seen or is_deep):
            kept.append(operation)
        seen |= roots
    return kept


def join_no_sets(case: Case) -> Case:
    """Keep the first write of each slot that ever holds a set."""
    mixed = {
        root
        for layer in case.get("layers", [])
        for operation in layer
        if holds(operation[1:], "set")
        for root in _find_roots(operation)
    }
    for root in mixed:
        case = _keep_operations(case, _OnceOnly(root))
    return case


def use_plain_classes(case: Case) -> Case:
    """Write text instead of a pydantic class."""
    return _replace(case, lambda note: {"class": "str"} if _is_class(note, MODELS) else note)


def use_no_bools(case: Case) -> Case:
    """Write text instead of a bool."""
    plain = _replace(case, lambda note: {"class": "str"} if _is_class(note, ("bool",)) else note)
    return json.loads(json.dumps(plain).replace("[bool]", "[str]"))


def use_one_item_type(case: Case) -> Case:
    """Write the same type for all lists."""
    types = [note for note in walk(case) if _is_list_type(note)]
    return _replace(case, lambda note: types[-1] if _is_list_type(note) else note)


def use_no_tuples(case: Case) -> Case:
    """Write the type instead of a tuple of type and description, as classes have them too, and no bytes."""
    return _replace(use_plain_classes(case), _open_tuple)


def _open_tuple(note: Any) -> Any:
    if isinstance(note, dict) and ("bytes" in note or note.get("object") == "bytearray"):
        return "bytes"
    return (note["tuple"] or [[]])[0] if _is_tuple(note) else note


def want_no_output(case: Case) -> Case:
    """Leave out what is written to the output."""
    return _keep_operations(case, lambda operation: "output" not in _find_roots(operation))


def fill_nothing(case: Case) -> Case:
    """Load a file without mappings."""
    return {name: value for name, value in case.items() if name != "mappings"}


def give_no_defaults(case: Case) -> Case:
    """Call the defaults of a file something that neither side knows."""
    return _rewrite_file(case, lambda text: text.replace("$default", "$other"))


def break_no_lines_oddly(case: Case) -> Case:
    """Write a dash instead of the characters that YAML takes for line breaks."""
    return json.loads(_ODD_BREAK.sub("-", json.dumps(case, ensure_ascii=False)))


def _rewrite_file(case: Case, rewrite: Callable[[str], str]) -> Case:
    file = case.get("file")
    return case if file is None else {**case, "file": {**file, "text": rewrite(file["text"])}}


class _OnceOnly:
    """Keeps the first operation that writes a slot."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._is_written = False

    def __call__(self, operation: list[Any]) -> bool:
        if operation[0] in ("get", "delete") or self._root not in _find_roots(operation):
            return True
        was_written, self._is_written = self._is_written, True
        return not was_written


def _keep_operations(case: Case, keep: Callable[[list[Any]], bool]) -> Case:
    layers = [[operation for operation in layer if keep(operation)] for layer in case.get("layers", [])]
    return {**case, "layers": layers} if "layers" in case else case


def _find_roots(operation: list[Any]) -> set[str]:
    name, first = operation[:2]
    keys: Iterable[Any] = [pair[0] for pair in first["dict"]] if name == "update" else [first]
    return {str(key).partition(".")[0] for key in keys}


def _replace(note: Any, change: Callable[[Any], Any]) -> Any:
    """Return a note with every note inside it changed, from the outside in; a file's text stays."""
    if isinstance(note, dict) and "file" in note:
        return note
    while (changed := change(note)) != note:
        note = changed
    if isinstance(note, dict):
        return {name: _replace(inner, change) for name, inner in note.items()}
    return [_replace(inner, change) for inner in note] if isinstance(note, list) else note


def _is_class(note: Any, names: tuple[str, ...]) -> bool:
    return isinstance(note, dict) and note.get("class") in names


def _is_tuple(note: Any) -> bool:
    return isinstance(note, dict) and "tuple" in note


def _is_list_type(note: Any) -> bool:
    return isinstance(note, dict) and bool(_LIST_TYPE.match(str((note.get("value") or ["", ""])[1])))
