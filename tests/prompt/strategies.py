"""Strategies for slot values that users may write."""

import datetime
from typing import Any, Literal

from hypothesis import strategies as st

text = st.text(st.characters(exclude_categories=("Cs",)), max_size=12) | st.sampled_from(
    [
        "yes",
        "null",
        "12",
        "a: b",
        "# no",
        "- item",
        "it's",
        "line\nbreak",
        "  padded  ",
        "2024-05-06",
        "word " * 30,
        "Ein paar Wörter, dann 中文 und 😀",
        "7 planks",
        "<<",
        "${name}",
    ]
)
names = st.text("abcdefgh_ 中", min_size=1, max_size=6).filter(lambda name: name.strip() == name)
scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | text
plain = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
odd = st.sampled_from(
    [datetime.date(2024, 5, 6), {1, 2}, (1, (2, 3)), list[int], int, b"bytes", {None: 1, 2: {3}}, object]
)
anything = plain | odd

types = st.sampled_from(
    [str, int, float, bool, list, dict, Any, list[int], int | None, Literal["a", 1], "text"]
)
fields = st.tuples(types, text | st.none()) | st.tuples(types, text, scalars)
schemas = st.recursive(
    fields | types | st.sampled_from(["free text", 5, True]),
    lambda inner: (
        st.dictionaries(names, inner, min_size=1, max_size=3)
        | st.lists(inner, min_size=1, max_size=2)
        | st.tuples(st.dictionaries(names, inner, min_size=1, max_size=2), text)
    ),
    max_leaves=8,
)
outputs = st.dictionaries(names, schemas, min_size=1, max_size=4) | st.lists(schemas, min_size=1, max_size=1)

parts = st.fixed_dictionaries({"type": st.just("text"), "text": text}) | st.fixed_dictionaries(
    {"type": st.sampled_from(["image_url", "audio"])}, optional={"image_url": plain}
)
roles = st.sampled_from(["user", "assistant", "system", "developer", "tool", "judge"])
messages = st.fixed_dictionaries({"role": roles, "content": text | st.lists(parts, max_size=3)})
histories = st.lists(messages, min_size=1, max_size=6)

parameters = st.recursive(
    st.tuples(types, text | st.none()),
    lambda inner: st.dictionaries(names, inner, max_size=3) | st.tuples(inner).map(list),
    max_leaves=5,
)
tools = st.fixed_dictionaries(
    {"name": names, "desc": text, "kwargs": st.dictionaries(names, parameters, max_size=3)},
    optional={"returns": parameters, "tags": st.lists(text, max_size=2)},
)

SLOTS: dict[str, st.SearchStrategy[Any]] = {
    "system": plain,
    "developer": plain,
    "chat_history": histories,
    "tools": st.lists(tools, max_size=2),
    "action_results": plain,
    "info": plain,
    "instruct": plain,
    "examples": plain,
    "attachment": st.lists(parts, max_size=2),
    "output": outputs,
    "output_format": st.sampled_from(["json", "markdown", "text", "xml"]),
    "options": st.dictionaries(text, plain, max_size=3),
    "my_notes": plain,
}


def prompts(**overrides: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return slots of a prompt with an input; the overrides replace the strategy of a slot."""
    slots = {**SLOTS, **overrides}
    return st.fixed_dictionaries({"input": slots.pop("input", plain).filter(_is_given)}, optional=slots)


def _is_given(value: Any) -> bool:
    return value not in (None, "", [], {})
