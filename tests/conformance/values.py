"""Random values, in the notation: texts, scalars, containers and named objects."""

import base64
import random
from typing import Any

from conformance.catalogue import CLASSES, EXPRESSIONS, OBJECTS

TEXTS = (
    "",
    " ",
    "oak",
    "two words",
    "Ein Brett — 木板 🪵",
    "  indented\n    more\n  back",
    "\n    first\n      second\n  ",
    "  lead\n    first\n    second",
    "line one\nline two\n\nline four",
    "tab\there",
    "trailing  \nspaces ",
    "key: value # not a comment",
    "- item",
    "yes",
    "null",
    "12",
    "1.5",
    "2024-05-06",
    "'quoted'",
    '"double"',
    "a\u2028b",
    "a\x85b",
    "a\u2029b",
    "bell\x07",
    "{brace}",
    "${name}",
    "about ${name} and ${ other }",
    "long " * 30 + "end",
    "x" * 120,
    "\r\nwindows\r\nlines\r\n",
    "\ufeffbom",
    "日本語 テキスト " * 12,
)
KEYS = ("a", "b", "name", "Wood", "two words", "木", "x.y", "1", "yes", "a: b", "", "json", "model_x", "_p")
FALSY: tuple[Any, ...] = (0, False, 0.0, "", None, [], {"dict": []}, {"tuple": []}, {"set": []})
SIMPLE = ("a", "b", "c", "name", "count", "wood")


class Values:
    """A source of values for one case."""

    def __init__(self, source: random.Random) -> None:
        self.random = source

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, options: Any) -> Any:
        return self.random.choice(list(options))

    def text(self) -> str:
        return self.pick(TEXTS) if self.chance(0.6) else self.pick(("hello", "plane it", "Q?", "ash", "答"))

    def key(self) -> str:
        return self.pick(KEYS) if self.chance(0.3) else self.pick(SIMPLE)

    def scalar(self) -> Any:
        return self.pick(
            (
                self.text(),
                self.text(),
                self.random.randint(-3, 2000),
                self.pick((1.5, -0.25, 1e20, 1e-7, 3.0, {"float": "nan"}, {"float": "inf"})),
                True,
                False,
                None,
            )
        )

    def odd(self) -> Any:
        """Return a value that is neither plain nor a container."""
        return self.pick(
            (
                {"object": self.pick(OBJECTS)},
                {"object": self.pick(OBJECTS)},
                {"class": self.pick(CLASSES)},
                {"type": self.pick(EXPRESSIONS)},
                {"bytes": base64.b64encode(self.pick((b"ab", b"\xff\x00", b""))).decode()},
            )
        )

    def any(self, depth: int = 2) -> Any:
        roll = self.random.random()
        if roll < 0.04:
            return self.pick(FALSY)
        if depth <= 0 or roll < 0.45:
            return self.scalar()
        if roll < 0.55:
            return self.odd()
        return self.container(depth)

    def container(self, depth: int = 2) -> Any:
        roll = self.random.random()
        if roll < 0.5:
            return self.mapping(depth)
        if roll < 0.8:
            return [self.any(depth - 1) for _ in range(self.random.randint(0, 3))]
        if roll < 0.93:
            return {"tuple": [self.any(depth - 1) for _ in range(self.random.randint(0, 3))]}
        return {"set" if roll < 0.98 else "frozenset": self.items_of_a_set()}

    def items_of_a_set(self) -> list[Any]:
        """Return items whose order is the same in every set: one of any kind, or small numbers."""
        if self.chance(0.5):
            return [self.pick((self.text(), {"tuple": [1, "a"]}, 40))]
        return self.unique(self.random.randint(0, 7) for _ in range(self.random.randint(0, 3)))

    def mapping(self, depth: int = 2) -> Any:
        keys = self.unique(self.key() for _ in range(self.random.randint(0, 3)))
        if self.chance(0.05):
            keys = [*keys, self.pick((7, None, True, {"tuple": [1, 2]}, 2.5))]
        return {"dict": [[key, self.any(depth - 1)] for key in keys]}

    def unique(self, items: Any) -> list[Any]:
        found: list[Any] = []
        for item in items:
            if item not in found:
                found.append(item)
        return found
