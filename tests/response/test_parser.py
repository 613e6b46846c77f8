"""Fields arrive the moment they are complete, however the answer is cut into deltas."""

import itertools
import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.data.clean import DEEPEST
from dovetail.response.field_event import FieldEvent
from dovetail.response.parser import InstantParser

Event = tuple[str, str, Any]


def read(deltas: Iterable[str], schema: Any = None, **options: Any) -> tuple[list[FieldEvent], Any]:
    parser = InstantParser(schema, **options)
    events = [event for delta in deltas for event in parser.feed(delta)]
    return events + parser.finish(), parser.data


def summarize(events: Iterable[FieldEvent]) -> list[Event]:
    """The events with the deltas of one string joined, which is all that may depend on the cutting."""
    summary: list[Event] = []
    for (path, kind), group in itertools.groupby(events, lambda event: (event.path, event.event_type)):
        if kind == "delta":
            summary.append((path, kind, "".join(event.delta for event in group)))
        else:
            summary += [(path, kind, json.dumps(event.value)) for event in group]
    return summary


def expect(value: Any, path: str = "") -> Iterator[Event]:
    """Every event below a value, children first, written down from the finished document."""
    children: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        children = ((f"{path}.{key}" if path else key, child) for key, child in value.items())
    elif isinstance(value, list):
        children = ((f"{path}[{index}]", child) for index, child in enumerate(value))
    for child_path, child in children:
        yield from expect(child, child_path)
        if isinstance(child, str) and child:
            yield child_path, "delta", child
        yield child_path, "done", json.dumps(child)


def cut(text: str, places: Iterable[int]) -> list[str]:
    borders = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(borders)]


keys = st.text(st.characters(exclude_characters=".[]", codec="utf-8"), min_size=1, max_size=6)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(keys, values, min_size=1, max_size=4) | st.lists(values, max_size=4)
cuttings = st.lists(st.integers(0, 10_000), max_size=12)
tricky = st.text(st.sampled_from(list("{}[]\"',:/*\\\n ntruefalsu01d8c-+.eEx`aå🪚")), max_size=60)


@given(document=documents, places=cuttings, ascii_only=st.booleans(), indent=st.none() | st.integers(0, 2))
def test_any_document_in_any_cutting_yields_exactly_its_events(
    document: Any, places: list[int], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    events, data = read(cut(text, places), document if document and isinstance(document, dict) else None)
    assert data == document
    assert summarize(events) == list(expect(document))


@given(document=documents, ascii_only=st.booleans())
def test_letter_by_letter_equals_all_at_once(document: Any, ascii_only: bool) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only)
    assert summarize(read(text, document or None)[0]) == summarize(read([text], document or None)[0])


@given(document=documents, places=cuttings)
def test_values_of_deltas_are_the_text_so_far(document: Any, places: list[int]) -> None:
    texts: dict[str, str] = {}
    for event in read(cut(json.dumps(document), places))[0]:
        if not event.is_complete:
            texts[event.path] = texts.get(event.path, "") + event.delta
            assert event.value == texts[event.path]
        elif isinstance(event.value, str):
            assert event.value == texts.pop(event.path, "")


@given(text=tricky, places=cuttings, schema=st.sampled_from([None, {"a": str}, {"n": int, "t": str}, [str]]))
@settings(max_examples=400)
def test_broken_text_is_read_the_same_in_any_cutting(text: str, places: list[int], schema: Any) -> None:
    whole, whole_data = read([text], schema)
    parts, parts_data = read(cut(text, places), schema)
    letters, _ = read(text, schema)
    assert summarize(whole) == summarize(parts) == summarize(letters)
    assert json.dumps(whole_data) == json.dumps(parts_data)


@given(
    text=tricky, document=st.dictionaries(st.sampled_from(["a", "b"]), values, min_size=1), places=cuttings
)
def test_document_is_found_behind_prose(text: str, document: dict[str, Any], places: list[int]) -> None:
    prose = text.replace("{", "").replace("[", "")
    events, data = read(cut(f"{prose} {json.dumps(document)} {text}", places), {"a": str, "b": str})
    assert data == document
    assert summarize(events) == list(expect(document))


@given(document=st.dictionaries(keys, values, min_size=1, max_size=4), length=st.integers(0, 10_000))
def test_cut_off_text_completes_what_is_open(document: dict[str, Any], length: int) -> None:
    text = json.dumps(document)
    events, data = read([text[: length % len(text)]], document)
    assert data is None or list(data) == list(document)[: len(data)]
    done = [event.path for event in events if event.is_complete]
    assert len(done) == len(set(done))


@pytest.mark.parametrize(
    ("before", "completing", "value"),
    [
        ('{"a": "x', '"', "x"),
        ('{"a": 12', ",", 12),
        ('{"a": 12', "}", 12),
        ('{"a": tru', " ", None),
        ('{"a": true', " ", True),
        ('{"a": [1, 2', "]", [1, 2]),
        ('{"a": {"b": 1}', "", {"b": 1}),
        ('{"a": ""', ",", ""),
    ],
)
def test_value_is_complete_with_its_last_character(before: str, completing: str, value: Any) -> None:
    parser = InstantParser({"a": str})
    for character in before[:-1] if not completing else before:
        assert "a" not in [event.path for event in parser.feed(character) if event.is_complete]
    completed = [event for event in parser.feed(completing or before[-1]) if event.path == "a"]
    assert [event.value for event in completed if event.is_complete] == ([] if value is None else [value])


def test_escapes_wait_for_their_rest() -> None:
    deltas = ['{"a": "x\\', "n", "\\u00", "e5", "\\ud83e", "\\", "udd", '41"}']
    parser = InstantParser({"a": str})
    said = ["".join(event.delta for event in parser.feed(delta)) for delta in deltas]
    assert said == ["x", "\n", "", "å", "", "", "", "🥁"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r'"\ud83e"', "\ufffd"),
        (r'"\udd41x"', "\ufffdx"),
        (r'"\ud83e\n"', "\ufffd\n"),
        (r'"\ud83e\ud83e\udd41"', "\ufffd🥁"),
        (r'"\d+ \(x\)"', r"\d+ \(x\)"),
        (r'"\u12zz"', r"\u12zz"),
        (r'"\x41\v\0"', "A\v\0"),
        ('"two\nlines"', "two\nlines"),
        ('"one \\\nline"', "one line"),
        ('"""say "hi" now"""', 'say "hi" now'),
        ("'''it's'''", "it's"),
        ("'single'", "single"),
        ("True", True),
        ("None", None),
        ("-Infinity", -math.inf),
        ("0x1F", 31),
        ("+.5", 0.5),
        ("9" * 5000, "9" * 5000),
        ("plain words here", "plain words here"),
        ("[1, 2, ]", [1, 2]),
        ("[1 /* one */, 2 // two\n]", [1, 2]),
        ("{b: 1, 'c': 2,}", {"b": 1, "c": 2}),
    ],
)
def test_what_models_write_is_understood(written: str, value: Any) -> None:
    for deltas in ([f'{{"a": {written}, "z": 0}}'], f'{{"a": {written}, "z": 0}}'):
        assert read(deltas, {"a": str, "z": int})[1] == {"a": value, "z": 0}


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"b": 2, "a" 1}', {"a": 1, "b": 2}),
        ('{"a": , "b": 2}', {"b": 2}),
        ('{"b": 2, "a", "c": 3}', {"b": 2, "c": 3}),
        ('{"a": [1, 2, "b": 2}', {"a": [1, 2, "b", 2]}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": 1]}', {"a": 1}),
        ('{{"a": 1}}', {"a": 1}),
        ('{"a": 1,, "b": 2}', {"a": 1, "b": 2}),
        ('{"a": 1} {"a": 2}', {"a": 1}),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_mistakes_are_read_over(text: str, data: Any) -> None:
    assert read([text], {"a": str, "b": str})[1] == data


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"x": 1} {"y": 2}', {"y": 2}),
        ('{"x": 1} and a { or {smile}', {"x": 1}),
        ('Use { to open: {"a": 1}', {"a": 1}),
        ("""Use {x: 'never closed: {"a": 1}""", {"a": 1}),
        ('{"x": {"y": 1}, "z": "cut', {"x": {"y": 1}, "z": "cut"}),
        ("no document at all", None),
        ("{", {}),
        ("", None),
    ],
)
def test_document_is_the_object_that_counts_else_the_last_one(text: str, data: Any) -> None:
    assert read([text], {"a": str})[1] == data
    assert read(text, {"a": str})[1] == data


def test_list_schema_takes_the_first_array() -> None:
    events, data = read('The [link](x): {"no": 1} [{"a": "x"}, 2] [3]', [{"a": (str,)}])
    assert data == [{"a": "x"}, 2]
    assert [event.path for event in events if event.is_complete] == ["[0].a", "[0]", "[1]"]


def test_events_are_held_back_until_the_object_counts() -> None:
    parser = InstantParser({"a": str})
    assert parser.feed('{"thought": "long", ') == []
    assert parser.data is None
    assert [event.path for event in parser.feed('"a": ')] == ["thought", "thought"]
    assert parser.data == {"thought": "long"}


def test_repeated_key_completes_again() -> None:
    events, _ = read(['{"a": 1, "a": 2}'], {"a": int})
    assert [(event.path, event.value) for event in events] == [("a", 1), ("a", 2)]


@pytest.mark.parametrize(
    ("style", "path", "wildcard"),
    [("dot", "rows[1].tags[0]", "rows[*].tags[*]"), ("slash", "/rows/[1]/tags/[0]", "/rows/[*]/tags/[*]")],
)
def test_path_styles(style: Any, path: str, wildcard: str) -> None:
    events, _ = read(['{"rows": [0, {"tags": ["x"]}]}'], {"rows": []}, path_style=style)
    tag = next(event for event in events if len(event.indexes) == 2)
    assert (tag.path, tag.wildcard_path, tag.indexes) == (path, wildcard, (1, 0))


def test_full_data_is_live() -> None:
    parser = InstantParser({"a": str})
    first = parser.feed('{"a": "one t')[0]
    assert first.full_data == {"a": "one t"}
    parser.feed('wo", "b": [1, "th')
    assert first.full_data == {"a": "one two", "b": [1, "th"]}
    parser.feed('ree"]}')
    assert first.full_data == parser.data == {"a": "one two", "b": [1, "three"]}
    assert repr(first) == "FieldEvent('a', delta, delta='one t')"


@pytest.mark.parametrize(
    "text", ['{"k":' * 20_000 + "oops " * 100, "[" * 50_000 + "}" * 50_000, "{" * 50_000]
)
def test_deep_nonsense_takes_no_more_than_linear_work(text: str) -> None:
    parser = InstantParser({"a": str})
    parser.feed(text)
    parser.finish()


@pytest.mark.parametrize("schema", [{"a": str}, [str], None])
def test_document_that_is_nested_too_deeply_ends_the_search_at_once(schema: Any) -> None:
    inner = DEEPEST - 1
    for levels, is_read in ((inner, True), (inner + 1, False), (1_000_000, False)):
        parser = InstantParser(schema)
        parser.feed('{"a": ' * (not isinstance(schema, list)) or "[")
        parser.feed("[" * levels)
        assert parser.is_too_deep != is_read
        parser.feed("1")
        assert bool(parser.finish()) == is_read
        assert parser.is_cut_off


def test_finishing_twice_adds_nothing() -> None:
    parser = InstantParser({"a": str})
    parser.feed('{"a": "')
    assert [event.value for event in parser.finish()] == [""]
    assert parser.finish() == []
    assert parser.feed("more") == []
