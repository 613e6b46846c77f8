"""The cases: number N of a seed is always the same one."""

import json
import random
from typing import Any

from conformance.configurations import make_file
from conformance.schemas import make_answers, make_schema
from conformance.values import Values

PLAIN_SLOTS = ("system", "developer", "action_results", "info", "instruct", "examples", "input")
ROLES = ("user", "assistant", "system", "tool", "human", "", "_")


def make_case(seed: int, number: int) -> dict[str, Any]:
    """Return a case by its number."""
    values = Values(random.Random(f"{seed}/{number}"))
    return make_file(values) if values.chance(0.15) else _make_layers(values)


def _make_layers(values: Values) -> dict[str, Any]:
    layers = [_make_operations(values) for _ in range(values.pick((1, 1, 1, 1, 2, 2, 3)))]
    case: dict[str, Any] = {"layers": layers if values.chance(0.1) else _avoid_settled(layers)}
    if values.chance(0.25):
        case["settings"] = _make_settings(values)
    if values.chance(0.06):
        case["bare"] = True
    if values.chance(0.4):
        case["role_mapping"] = _make_roles(values) if values.chance(0.9) else values.pick((5, "x", [], None))
    schemas = [
        operation[2]
        for operations in case["layers"]
        for operation in operations
        if operation[0] in ("set", "item") and operation[1] == "output"
    ]
    if schemas:
        case["answers"] = make_answers(values, schemas[-1])
    return case


def _avoid_settled(layers: list[Any]) -> list[Any]:
    """Return the layers with one write of the history, and without assignments to existing values.

    Dovetail differs in these on purpose; a few are enough.
    """
    written, kept_layers = False, []
    for layer in layers:
        seen: set[str] = set()
        kept: list[Any] = []
        for name, key, *rest in layer:
            roots = {pair[0] for pair in key["dict"]} if name == "update" else {key.partition(".")[0]}
            if name != "get" and "chat_history" in roots:
                if written:
                    continue
                written = True
            kept.append(["set" if name == "item" and roots & seen else name, key, *rest])
            seen |= roots
        kept_layers.append(kept)
    return kept_layers


def _make_roles(values: Values) -> Any:
    pairs = [
        [role, values.pick(("human", "model", "user", "assistant", "人", "", 5, None))]
        for role in values.unique(values.pick(ROLES) for _ in range(values.random.randint(0, 4)))
    ]
    return {"dict": pairs}


def _make_settings(values: Values) -> list[Any]:
    settings: list[Any] = []
    if values.chance(0.6):
        settings.append(
            ["prompt.role_mapping", _make_roles(values) if values.chance(0.8) else values.scalar()]
        )
    if values.chance(0.6):
        titles = {
            "dict": [
                [
                    values.pick(
                        (*PLAIN_SLOTS, "chat_history", "tools", "output", "output_requirement", "memo")
                    ),
                    values.pick(("TITLE", "标题", "", "a]b", 5, None)),
                ]
                for _ in range(3)
            ]
        }
        titles = {"dict": list({json.dumps(pair[0]): pair for pair in titles["dict"]}.values())}
        settings.append(["prompt.prompt_title_mapping", titles if values.chance(0.85) else values.scalar()])
    return settings


def _make_operations(values: Values) -> list[Any]:
    slots = [values.pick(_SLOTS) for _ in range(values.random.randint(0, 6))]
    operations = [_make_set(values, slot) for slot in values.unique(slots)]
    for _ in range(values.pick((0, 0, 0, 1, 2, 3))):
        operations.append(_make_further(values))
    if values.chance(0.1):
        values.random.shuffle(operations)
    return operations


def _make_set(values: Values, slot: str) -> Any:
    value = _make_value(values, slot)
    if values.chance(0.06):
        return ["set", slot, value, {"dict": [["name", values.any(1)], ["other", "O"]]}]
    return [values.pick(("set", "set", "set", "set", "item")), slot, value]


def _make_further(values: Values) -> Any:
    slot = values.pick((*_SLOTS, "info.a", "info.a.b", "memo.x", "system.rule", "output.a", "input.x"))
    roll = values.random.random()
    if roll < 0.3:
        return ["set", slot, _make_value(values, slot)]
    if roll < 0.5:
        return ["append", slot, _make_value(values, slot) if values.chance(0.6) else values.any(1)]
    if roll < 0.6:
        return ["delete", slot]
    if roll < 0.7:
        return ["item", slot, _make_value(values, slot)]
    if roll < 0.8:
        chosen = values.unique(values.pick(_SLOTS) for _ in range(2))
        return ["update", {"dict": [[name, _make_value(values, name)] for name in chosen]}]
    return ["get", slot, values.pick((None, "default", 5)), values.chance(0.7)]


def _make_value(values: Values, slot: str) -> Any:
    make = _MAKERS.get(slot)
    if make is not None and values.chance(0.96):
        return make(values)
    return values.any() if values.chance(0.7) else values.text()


def _make_history(values: Values) -> Any:
    messages = [_make_message(values) for _ in range(values.random.randint(0, 4))]
    if values.chance(0.15):
        messages += messages[:1]
    return messages if values.chance(0.9) else values.pick((_make_message(values), {"tuple": messages}))


def _make_message(values: Values) -> Any:
    roll = values.random.random()
    if roll < 0.05:
        return values.scalar()
    role = values.pick(("user", "assistant")) if values.chance(0.8) else values.pick((*ROLES, 5, None))
    pairs = [["role", role], ["content", _make_content(values)]]
    if values.chance(0.05):
        pairs = pairs[1:]
    if values.chance(0.05):
        pairs.append(["name", "Ann"])
    if values.chance(0.01):
        pairs = pairs[:1]
    return {"dict": pairs}


def _make_content(values: Values) -> Any:
    roll = values.random.random()
    if roll < 0.6:
        return values.text()
    if roll < 0.85:
        return [_make_part(values) for _ in range(values.random.randint(0, 3))]
    return _make_part(values) if roll < 0.92 else values.any(1)


def _make_part(values: Values) -> Any:
    roll = values.random.random()
    text = {"dict": [["type", "text"], ["text", values.text()]]}
    if roll < 0.5:
        return text
    if roll < 0.58:
        return {"dict": [*text["dict"], ["cache", True]]}
    if roll < 0.9:
        return values.pick(_PARTS)
    return values.pick((*_ODD_PARTS, values.scalar()))


_PARTS = (
    {"dict": [["type", "image_url"], ["image_url", "http://example.com/a.png"]]},
    {"dict": [["type", "image_url"], ["image_url", {"dict": [["url", "http://example.com/a.png"]]}]]},
    {"dict": [["image_url", "u"], ["type", "image_url"], ["detail", "low"]]},
    {"dict": [["type", "file"], ["file", {"dict": [["id", 3]]}]]},
    {"dict": [["type", "audio"], ["data", "QUJD"], ["media_type", "audio/wav"]]},
    {"dict": [["type", "video"]]},
)
_ODD_PARTS = (
    {"dict": [["type", "text"]]},
    {"dict": [["type", "text"], ["text", 5]]},
    {"dict": [["type", "text"], ["text", None]]},
    {"dict": [["text", "no type"]]},
    {"dict": [["type", 5]]},
    {"dict": [["type", "type"]]},
    {"dict": []},
)


def _make_attachment(values: Values) -> Any:
    parts = [_make_part(values) for _ in range(values.random.randint(0, 3))]
    return parts if values.chance(0.9) else _make_part(values)


def _make_tools(values: Values) -> Any:
    tools = [_make_tool(values) for _ in range(values.random.randint(0, 3))]
    return tools if values.chance(0.93) else values.pick((_make_tool(values), {"tuple": tools}, None))


def _make_tool(values: Values) -> Any:
    pairs = [
        ["name", values.pick(("saw", "plane", "木"))],
        ["desc", values.text()],
        [
            "kwargs",
            values.pick(
                (
                    {"dict": []},
                    make_schema(values),
                    {"dict": [["mm", {"tuple": [{"class": "int"}, "length"]}]]},
                )
            ),
        ],
    ]
    if values.chance(0.3):
        pairs.append(["returns", make_schema(values)])
    if values.chance(0.2):
        pairs.append([values.pick(("tags", "extra")), values.any(1)])
    if values.chance(0.1):
        values.random.shuffle(pairs)
    if values.chance(0.03):
        pairs.pop(0)
    if values.chance(0.02):
        pairs[0] = [pairs[0][0], values.any(1)]
    return {"dict": pairs}


def _make_format(values: Values) -> Any:
    return values.pick(("json", "json", "markdown", "markdown", "text", "xml", "JSON", "", None, 5, False))


def _make_options(values: Values) -> Any:
    return (
        {"dict": [["temperature", 0.5], ["seed", values.scalar()]]} if values.chance(0.9) else values.scalar()
    )


_MAKERS: dict[str, Any] = {
    "chat_history": _make_history,
    "attachment": _make_attachment,
    "tools": _make_tools,
    "output": make_schema,
    "output_format": _make_format,
    "options": _make_options,
}
_SLOTS = (
    *PLAIN_SLOTS,
    "input",
    "info",
    "output",
    "output",
    "chat_history",
    "chat_history",
    "attachment",
    "tools",
    "output_format",
    "options",
    "memo",
    "two words",
)
