"""Random configuration files, as YAML and JSON text."""

import json
import textwrap
from typing import Any

import yaml

from conformance.schemas import make_answers
from conformance.values import Values

_SLOTS = ("system", "info", "instruct", "examples", "input", "input", "memo", "chat_history", "developer")


def make_file(values: Values) -> dict[str, Any]:
    """Return a case whose prompts come from a configuration file."""
    document = _make_document(values)
    file: dict[str, Any] = {"format": values.pick(("yaml", "json"))}
    if values.chance(0.1):
        document = {"team": {"first": document, "list": [document]}, "other": 1}
        file["path"] = values.pick(("team.first", "team.list[0]", "team.none", "team", ""))
    file["text"] = _write(values, document, file["format"])
    if (len(file["text"]) > 200 and values.chance(0.97)) or values.chance(0.2):
        file["on_disk"] = True
    if values.chance(0.4):
        pairs = [
            ["name", values.pick(("Ann", 5, None, "${other}", ".agent", {"dict": [["$type", "int"]]}))],
            ["other", "O"],
            ["kind", "str"],
        ]
        file["mappings"] = {"dict": pairs}
    case: dict[str, Any] = {"file": file}
    if values.chance(0.2):
        case["role_mapping"] = {"dict": [["user", "human"]]}
    if "output" in document:
        case["answers"] = make_answers(values, {"dict": [["a", 1], ["b", {"class": "int"}]]})
    return case


def _write(values: Values, document: Any, format: str) -> str:
    """Return the document as text, in one of the common styles."""
    if values.chance(0.6):
        return json.dumps(document, ensure_ascii=values.chance(0.5), indent=values.pick((None, 2)))
    if format == "json":
        text = json.dumps(document, ensure_ascii=False, indent=2)
        return f"// a note\n{text[:-1].rstrip()},\n}} /* the end */" if len(document) else text
    text = yaml.safe_dump(document, allow_unicode=True, sort_keys=False) if document else ""
    return "".join([text, *(f"{line}\n" for line in values.unique(values.pick(_LINES) for _ in range(2)))])


_LINES = (
    "when: 2024-05-06",
    "at: 2024-05-06 07:08:09",
    "odd: {1: one, null: none, 2.5: half, true: yes}",
    "block: |\n  first\n    second\n",
    "folded: >-\n  first\n  second",
    "chosen: !!set {a: null}",
    "$more: [1_000, 0x1f, 1e3, .inf, ~, off]",
    "same: &a {k: v}\nagain: *a",
    "merged: {<<: {k: v}, l: w}",
    "pairs: !!binary aGVsbG8=",
    "# a note",
)


def _make_document(values: Values) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for _ in range(values.random.randint(1, 5)):
        roll = values.random.random()
        if roll < 0.15:
            document[".agent"] = _make_slots(values) if values.chance(0.85) else _make_plain(values, 1)
        elif roll < 0.3:
            document[".request"] = _make_slots(values) if values.chance(0.85) else _make_plain(values, 1)
        elif roll < 0.4:
            document[".alias"] = _make_aliases(values)
        else:
            prefix = "$" if values.chance(0.3) else ""
            slot = "output" if values.chance(0.3) else values.pick(_SLOTS)
            document[prefix + slot] = _make_slot(values, slot)
    if values.chance(0.1):
        document[values.pick(("${name}", "a ${name} b", "$${name}", "x.y", "info.a"))] = _make_plain(
            values, 1
        )
    if values.chance(0.5):
        document["input"] = values.pick(("go", "ask ${name}", "${name}"))
    return document


def _make_slots(values: Values) -> dict[str, Any]:
    slots = values.unique(values.pick((*_SLOTS, "output")) for _ in range(values.random.randint(0, 3)))
    return {slot: _make_slot(values, slot) for slot in slots}


def _make_slot(values: Values, slot: str) -> Any:
    if slot == "output":
        return _make_output(values, 2)
    if slot == "chat_history":
        return [{"role": "user", "content": _make_text(values)}, {"role": "assistant", "content": "ok"}]
    return _make_plain(values, 2)


def _make_text(values: Values) -> str:
    """Return a text that is the same whether it is dedented or stripped first."""
    while True:
        text = values.text()
        if textwrap.dedent(text).strip() == textwrap.dedent(text.strip()):
            return text


def _make_plain(values: Values, depth: int) -> Any:
    roll = values.random.random()
    if depth <= 0 or roll < 0.6:
        return values.pick((_make_text(values), values.random.randint(-2, 50), True, None, 1.5))
    if roll < 0.8:
        return [_make_plain(values, depth - 1) for _ in range(values.random.randint(0, 3))]
    return {values.key(): _make_plain(values, depth - 1) for _ in range(values.random.randint(0, 3))}


def _make_output(values: Values, depth: int) -> Any:
    roll = values.random.random()
    if depth > 0 and roll < 0.5:
        return {values.key(): _make_output(values, depth - 1) for _ in range(values.random.randint(1, 3))}
    if depth > 0 and roll < 0.6:
        return [_make_output(values, depth - 1) for _ in range(values.random.randint(0, 2))]
    if roll < 0.9:
        return _make_field(values, depth)
    return _make_plain(values, depth)


def _make_field(values: Values, depth: int) -> dict[str, Any]:
    field: dict[str, Any] = {}
    if values.chance(0.85):
        field[values.pick(("$type", "$type", ".type"))] = values.pick(
            ("str", "int", "${kind}", "", None, 0, _make_output(values, depth - 1) if depth > 0 else "bool")
        )
    if values.chance(0.7):
        field[values.pick(("$desc", "$desc", ".desc"))] = values.pick(("what", "about ${name}", "", None))
    if values.chance(0.08):
        field[".type"] = values.pick(("float", None))
    if values.chance(0.08):
        field[".desc"] = "dotted"
    if values.chance(0.1):
        field["$default"] = values.pick((1, "x", None))
    if values.chance(0.1):
        field["further"] = 1
    return field


def _make_aliases(values: Values) -> Any:
    if values.chance(0.04):
        return values.pick((5, "x", []))
    calls: dict[str, Any] = {}
    for _ in range(values.random.randint(1, 2)):
        name = values.pick(
            (
                "input",
                "info",
                "instruct",
                "examples",
                "output",
                "attachment",
                "set_request_prompt",
                "set_agent_prompt",
                "nothing_such",
            )
        )
        if name.startswith("set_"):
            calls[name] = {".args": ["memo", _make_plain(values, 1)]}
        else:
            calls[name] = _make_parameters(values)
    return calls


def _make_parameters(values: Values) -> Any:
    value = _make_plain(values, 1)
    return values.pick(
        (
            {"prompt": value},
            {".args": [value]},
            {"prompt": value, "always": values.chance(0.5)},
            {"prompt": "for ${name}", "mappings": {"name": "Bo"}},
            {".args": values.pick(("solo", [value], None))},
            values.pick((None, "x", 5, {"prompt": value})),
        )
    )
