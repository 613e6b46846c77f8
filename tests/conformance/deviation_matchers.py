"""Recognize intended differences: by the operations of the case, or by undoing the difference exactly."""

import json
import re
from collections.abc import Callable
from typing import Any

from conformance.differences import Difference, same_without, walk
from dovetail.schema import output_model


def space_info_lines(difference: Difference) -> dict[str, Any]:
    """Put a space before the colon of each line of a mapping in `info`."""
    info, theirs = difference.slot("info"), difference.their_view
    if holds_mapping_proxy(info):
        info = {"dict": [["k", 1]]}
    if "error" in theirs or difference.kind not in ("text", "messages", "agent"):
        return theirs
    if not isinstance(info, dict) or not info.get("dict"):
        return theirs
    keys = [
        str(tuple(key["tuple"]) if isinstance(key, dict) and "tuple" in key else key)
        for key, _ in info["dict"]
    ]
    title = next(
        (
            title
            for name, titles in reversed(difference.case.get("settings", []))
            if name == "prompt.prompt_title_mapping" and isinstance(titles, dict) and "dict" in titles
            for slot, title in titles["dict"]
            if slot == "info"
        ),
        "INFO",
    )
    return {**theirs, "result": _add_spaces(theirs["result"], title, keys)}


def holds_mapping_proxy(note: Any) -> bool:
    return isinstance(note, dict) and note.get("value", [""])[0] == "mappingproxy"


def _add_spaces(result: Any, title: Any, keys: list[str]) -> Any:
    if isinstance(result, list):
        return [_add_spaces(item, title, keys) for item in result]
    if isinstance(result, dict):
        return {name: _add_spaces(item, title, keys) for name, item in result.items()}
    place = result.find(f"[{title}]:\n- {keys[0]}: ") if isinstance(result, str) else -1
    for key in keys if place >= 0 else ():
        place = result.find(f"\n- {key}: ", place)
        line = f"\n- {key} : "
        result = f"{result[:place]}{line}{result[place + len(line) - 1 :]}"
        place += len(line)
    return result


def warn_of_the_format(difference: Difference) -> dict[str, Any]:
    """Add the warning of an unknown format."""
    theirs, ours = difference.their_view, difference.our_view.get("warnings", [])
    warned = [warning for warning in ours if warning.startswith("Unknown output_format")]
    return {**theirs, "warnings": [*theirs.get("warnings", []), *warned[:1]]} if warned else theirs


def _is_no_mapping(note: Any) -> bool:
    return isinstance(note, list) or (isinstance(note, dict) and "dict" not in note)


def reads_pairs(difference: Difference) -> bool:
    """Return whether the output is not a mapping, and the original took its items for keys and values."""
    return (
        difference.kind in ("text", "messages", "agent")
        and _is_no_mapping(difference.slot("output"))
        and difference.both_give_results
    )


def writes_history_twice(difference: Difference) -> bool:
    writes = sum(
        operation[1] == "chat_history"
        or (operation[0] == "update" and any(key == "chat_history" for key, _ in operation[1]["dict"]))
        for operation in difference.operations("set", "append", "item", "update")
    )
    return writes > 1 or difference.case.get("file", {"text": ""})["text"].count("chat_history") > 1


def assigns_over_something(difference: Difference) -> bool:
    """Return whether `prompt[key] = value` replaced an existing value, or put a mapping below a new key.

    The original puts an empty dict there first.
    """
    for layer in difference.case.get("layers", []):
        seen: set[str] = set()
        for name, key, *rest in layer:
            if name == "item" and "." in key and rest == [{"object": "mappingproxy"}]:
                return True
            roots = {pair[0] for pair in key["dict"]} if name == "update" else {str(key).partition(".")[0]}
            if name == "item" and roots & seen:
                return True
            seen |= roots
    return False


def exports_output(difference: Difference) -> bool:
    return same_without("output", difference)


def has_odd_breaks(difference: Difference) -> bool:
    return (
        "yaml" in difference.view
        and difference.both_give_results
        and re.search("[\x85\u2028\u2029]", difference.their_view["result"]) is not None
    )


def holds_pydantic_class(difference: Difference) -> bool:
    models = ("Plank", "Stack", "Note")
    return difference.kind in ("model", "answer") and any(
        isinstance(part, dict) and part.get("class") in models for part in walk(difference.slot("output"))
    )


def file_has(*texts: str, mapped: bool = False) -> Callable[[Difference], bool]:
    """Return whether the case is a configuration file whose text contains one of these."""

    def settles(difference: Difference) -> bool:
        file = difference.case.get("file", {"text": ""})
        return any(text in file["text"] for text in texts) and (not mapped or "mappings" in file)

    return settles


def orders_a_set(difference: Difference) -> bool:
    """Return whether the two differ only in the order of the items of a set."""
    return (
        difference.both_give_results
        and any(isinstance(part, dict) and "set" in part for part in walk(difference.case))
        and sorted(str(difference.their_view["result"])) == sorted(str(difference.our_view["result"]))
    )


def adds_mapping_to_set(difference: Difference) -> bool:
    """Return whether `set` wrote a mapping to an existing set."""
    kinds: dict[str, set[str]] = {}
    for name, first, *rest in difference.operations("set", "append", "update", "item"):
        for key, value in first["dict"] if name == "update" else [(first, rest[0])]:
            kinds.setdefault(key, set()).update(value if isinstance(value, dict) else ())
    return any({"set", "dict"} <= found for found in kinds.values())


def makes_keys_text(difference: Difference) -> bool:
    return (
        file_has('${name}":', "${name}:", mapped=True)(difference)
        and difference.both_give_results
        and difference.our_view["result"] in _write_keys(difference.their_view["result"])
    )


def _write_keys(note: Any) -> tuple[Any, ...]:
    """Return the note with its slots' names as text, and with all keys as text."""
    if not isinstance(note, dict) or "dict" not in note:
        return (note,)
    pairs = note["dict"]
    return (
        {"dict": [[str(key), value] for key, value in pairs]},
        {"dict": [[str(key), _write_keys(value)[-1]] for key, value in pairs]},
    )


def has_surrogates(difference: Difference) -> bool:
    return file_has(r"\ud83e")(difference) and difference.case["file"]["format"] == "json"


def skips_alias(difference: Difference) -> bool:
    return (
        difference.view == "load"
        and difference.both_give_results
        and all("alias" in warning for warning in difference.our_view.get("warnings", []))
    )


def casts_to_bool(difference: Difference) -> bool:
    """Return whether the answers are the same except for a bool."""
    return (
        difference.kind == "answer"
        and "error" not in difference.their_view
        and re.search('"(list.)?bool', str(difference.slot("output")).replace("'", '"')) is not None
    )


def rename_module(difference: Difference) -> dict[str, Any]:
    """Replace their module's name by ours, where a schema uses it to distinguish two models of one name."""
    text = json.dumps(difference.their_view)
    theirs = "agently__builtins__plugins__PromptGenerator__AgentlyPromptGenerator__"
    ours = output_model.__name__.replace(".", "__")
    return json.loads(text.replace(theirs, f"{ours}__"))


def mixes_item_types(difference: Difference) -> bool:
    """Return whether one mapping of the output has several fields of the kind `(list[int], …)`."""
    if difference.kind != "answer":
        return False
    for part in walk(difference.slot("output")):
        fields = [field for _, field in part["dict"]] if isinstance(part, dict) and "dict" in part else []
        if sum(_is_typed_list(field) for field in fields) > 1:
            return True
    return False


def _is_typed_list(field: Any) -> bool:
    kind = field["tuple"][0] if isinstance(field, dict) and field.get("tuple") else None
    return (
        isinstance(kind, dict) and re.match(r"list\[|typing.List", kind.get("value", ["", ""])[1]) is not None
    )
