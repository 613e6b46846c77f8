"""Random output schemas, and answers that fit them, nearly fit them or do not."""

from typing import Any

from conformance.catalogue import CLASSES, EXPRESSIONS
from conformance.values import Values

_COMMON = ("str", "int", "float", "bool", "list", "dict")
_COMMON_TYPES = ("list[int]", "list[str]", "Literal['a', 'b']", "Optional[int]", "Any", "int | None")


def make_schema(values: Values) -> Any:
    """Return a schema for the `output` slot: mostly a mapping."""
    roll = values.random.random()
    if roll < 0.68:
        return _make_mapping(values, 2)
    if roll < 0.8:
        return _make_list(values, 2)
    if roll < 0.87:
        return _make_type(values)
    if roll < 0.92:
        return _make_tuple(values, 1)
    if roll < 0.95:
        return values.pick((None, "", [], {"dict": []}, {"tuple": []}, 0, False))
    return values.any(1)


def _make_mapping(values: Values, depth: int) -> Any:
    keys = values.unique(values.key() for _ in range(values.random.randint(1, 4)))
    return {"dict": [[key, _make_field(values, depth)] for key in keys]}


def _make_field(values: Values, depth: int) -> Any:
    roll = values.random.random()
    if roll < 0.5 or depth <= 0:
        return _make_tuple(values, depth)
    if roll < 0.62:
        return _make_type(values)
    if roll < 0.74:
        return _make_mapping(values, depth - 1)
    if roll < 0.9:
        return _make_list(values, depth - 1)
    if roll < 0.95:
        return values.text()
    return values.any(1)


def _make_tuple(values: Values, depth: int) -> Any:
    kind = _make_type(values)
    if depth > 0 and values.chance(0.2):
        kind = values.pick((_make_mapping, _make_list, _make_tuple))(values, depth - 1)
    elif values.chance(0.12):
        kind = values.pick(("str", "int", "a number", 5, None, ""))
    size = values.pick((0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3)) if values.chance(0.9) else 2
    rest = [
        values.pick((values.text(), "what it is", "what it is", "what it is", None, "", 3)),
        values.any(1),
    ]
    return {"tuple": [kind, *rest][:size]}


def _make_list(values: Values, depth: int) -> Any:
    size = values.pick((1, 1, 1, 1, 0, 2))
    return [_make_field(values, depth) for _ in range(size)]


def _make_type(values: Values) -> Any:
    if values.chance(0.6):
        return {"class": values.pick(_COMMON)}
    if values.chance(0.4):
        return {"class": values.pick(CLASSES)}
    return {"type": values.pick(_COMMON_TYPES if values.chance(0.5) else EXPRESSIONS)}


def make_answers(values: Values, schema: Any) -> list[Any]:
    """Return data to validate, made from the schema with random mistakes."""
    root = schema if isinstance(schema, dict) and "dict" in schema else {"dict": [["list", schema]]}
    answers = [_answer_mapping(values, root, wrong) for wrong in (0.0, 0.15, 0.5)]
    if values.chance(0.1):
        answers.append(values.any(1))
    return answers


def _answer_mapping(values: Values, schema: Any, wrong: float) -> Any:
    pairs: list[Any] = []
    for key, field in schema["dict"]:
        if values.chance(0.2 * (wrong > 0)):
            continue
        text = key if isinstance(key, str) else str(key)
        pairs.append([text, _answer(values, field, wrong)])
    if values.chance(0.2):
        pairs.append(["further", values.scalar()])
    return {"dict": pairs}


def _answer(values: Values, schema: Any, wrong: float) -> Any:
    if values.chance(wrong):
        return values.any(1)
    if isinstance(schema, list):
        items = (
            [_answer(values, schema[0], wrong) for _ in range(values.random.randint(0, 2))] if schema else []
        )
        return values.pick((items, items, items, items[0] if items else 1))
    if isinstance(schema, dict):
        ((kind, content),) = schema.items()
        if kind == "dict":
            return _answer_mapping(values, schema, wrong)
        if kind == "tuple":
            return _answer(values, content[0], wrong) if content else values.scalar()
        return _answer_type(values, content) if kind in ("class", "type") else values.scalar()
    return values.scalar()


_PLANK = {"dict": [["length", 3], ["wood", "oak"]]}
_ANSWERS: dict[str, tuple[Any, ...]] = {
    "str": ("text", "", 5),
    "int": (1, "12", 2.0, True, "x"),
    "float": (1.5, "2.5", 3),
    "bool": (True, False, "false", "no", "true", 0, "maybe"),
    "list": ([1, "a"], [], "solo", {"tuple": [1]}),
    "dict": ({"dict": [["k", 1]]}, {"dict": []}),
    "Plank": (_PLANK, {"dict": [["length", "7"]]}, {"dict": []}),
    "Note": ({"dict": []}, {"dict": [["tags", ["a"]]]}),
    "Wood": ("oak", "ash", "elm"),
    "list[int]": ([1, 2], ["3"], 4, "5", ["x"], [None]),
    "list[str]": (["a"], [1], "b", None),
    "list[bool]": (["false", "yes", 0, True], ["no"], ["maybe"]),
    "list[Plank]": ([_PLANK], _PLANK, [{"dict": []}], []),
    "list[Note]": ([{"dict": []}], [{"dict": [["text", "t"]]}]),
    "list[float]": ([1, "2.5"], 3),
    "Literal['a', 'b']": ("a", "b", "c"),
    "dict[str, int]": ({"dict": [["k", "1"]]}, {"dict": [["k", "x"]]}),
    "dict[str, Plank]": ({"dict": [["k", _PLANK]]},),
    "tuple[int, str]": ([1, "a"], {"tuple": [1, "a"]}),
    "date": ("2024-05-06", "x"),
    "datetime": ("2024-05-06T01:02:03",),
}


def _answer_type(values: Values, name: str) -> Any:
    return values.pick(_ANSWERS[name]) if name in _ANSWERS else values.scalar()
