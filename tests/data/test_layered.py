"""Layers merge, join and hide as promised, and reading copies nothing."""

import enum
import types
from typing import Any

import pytest

from dovetail.data import LayeredData


class Log(LayeredData):
    logs = frozenset({"history"})


def test_dotted_keys_nest() -> None:
    data = LayeredData({"a.b": 1})
    data.set("a.c.d", 2)
    assert data.get() == {"a": {"b": 1, "c": {"d": 2}}}
    assert data.get("a.c.d") == 2
    assert data["a.b"] == 1


def test_dotted_key_below_a_scalar_is_refused_and_overwrites_nothing() -> None:
    data = LayeredData({"a": {"b": "text"}})
    for write in (data.set, data.append, data.replace, data.__setitem__):
        with pytest.raises(TypeError) as caught:
            write("a.b.c", 1)
        assert str(caught.value) == ("Can not set value to path 'a.b.c' because 'a.b' is not a dictionary.")
    assert data.get() == {"a": {"b": "text"}}


def test_scalar_of_the_child_hides_what_the_parent_has_below_it() -> None:
    data = LayeredData({"a": 1}, parent=LayeredData({"a": {"b": 2}}))
    assert data.get("a.b", "default") == "default"
    assert "a.b" not in data


def test_set_merges_mappings_deeply() -> None:
    data = LayeredData({"a": {"x": {"one": 1}, "l": [1]}})
    data.set("a", {"x": {"two": 2}, "l": [2, 1]})
    assert data.get("a") == {"x": {"one": 1, "two": 2}, "l": [1, 2]}


def test_set_adds_to_lists_and_sets_what_they_do_not_hold() -> None:
    data = LayeredData({"a": [1], "s": {1}})
    for value in (None, (1, 2), {"k": 1}, {3}, None):
        data.set("a", value)
    assert data.get("a") == [1, None, 2, {"k": 1}, {3}]
    for value in ([1, 2], "ab"):
        data.set("s", value)
    assert data.get("s") == {1, 2, "ab"}
    data.append("s", 3)
    assert data.get("s") == {1, 2, 3, "ab"}
    data.set("s", {"k": 1})
    assert {"k": 1} in data.get("s")


def test_set_adds_the_items_of_anything_that_has_some_to_a_set() -> None:
    class Wood(enum.Enum):
        OAK = "oak"
        ASH = "ash"

    data = LayeredData({"s": set[Any]()})
    for value in (Wood, range(2), frozenset({1, 2}), (item for item in "x"), {}, b"ab"):
        data.set("s", value)
    assert data.get("s") == {Wood.OAK, Wood.ASH, 0, 1, 2, "x", b"ab"}


def test_mapping_at_a_new_dotted_key_is_a_mapping_like_others() -> None:
    data = LayeredData()
    data.set("a.b", types.MappingProxyType({"k": 1}))
    data.set("a.b", {"l": 2})
    assert data.get() == {"a": {"b": {"k": 1, "l": 2}}}
    assert type(data.get("a.b")) is dict


def test_set_copies_a_set() -> None:
    given = {1}
    data = LayeredData({"a": given})
    data.set("a", 2)
    assert given == {1}


def test_replace_and_delete_mean_what_they_say() -> None:
    data = LayeredData({"a": {"x": 1, "y": 2}, "l": [1]})
    data.replace("a", {"z": 3})
    data.replace("l", [2])
    assert data.get() == {"a": {"z": 3}, "l": [2]}
    data.delete("a.z")
    data.delete("l")
    data.delete("nothing.here")
    assert data.get() == {"a": {}}


def test_deleted_value_shows_the_parents_again() -> None:
    data = LayeredData({"a": 1}, parent=LayeredData({"a": 2}))
    del data["a"]
    assert data["a"] == 2


def test_item_access_assigns_this_very_value() -> None:
    data = LayeredData({"a": {"x": 1}})
    data["a"] = {"y": 2}
    assert data["a"] == {"y": 2}
    assert "a.y" in data
    assert "a.x" not in data
    with pytest.raises(KeyError, match=r"Unknown key 'b'\. Expected one of: a"):
        _ = data["b"]


def test_mapping_views_cover_all_layers() -> None:
    data = LayeredData({"b": 2}, parent=LayeredData({"a": 1}))
    assert list(data) == data.keys() == ["a", "b"]
    assert len(data) == 2
    assert dict(**data) == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("parent", "own", "seen"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": None}, {"a": None}),
        ({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
        ({"a": [1, 2]}, {"a": [3, 1]}, {"a": [3, 1, 2]}),
        ({"a": [{"k": 1}]}, {"a": [{"k": 2}, {"k": 1}]}, {"a": [{"k": 2}, {"k": 1}]}),
        ({"a": [1]}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": "text"}, {"a": [1]}, {"a": [1, "text"]}),
        ({"a": (1, 2)}, {"a": [1]}, {"a": [1, 2]}),
        ({"a": None}, {"a": [1]}, {"a": [1, None]}),
        ({"a": [2]}, {"a": {1}}, {"a": {1, 2}}),
        ({"history": "h"}, {"history": {"i": 1}}, {"history": ["h", {"i": 1}]}),
        ({"history": ["h"]}, {"history": None}, {"history": None}),
        ({"history": ["h"]}, {"history": ["h", "i"]}, {"history": ["h", "h", "i"]}),
    ],
)
def test_child_sees_its_parent(parent: dict[str, Any], own: dict[str, Any], seen: dict[str, Any]) -> None:
    below = Log(parent)
    data = Log(own, parent=below)
    assert data.get() == seen
    assert {key: data.get(key) for key in seen} == seen
    assert data.get(inherit=False) == own
    assert below.get() == parent


def test_log_keeps_every_item() -> None:
    data = Log()
    data.set("history", ["a"])
    data.set("history", ["a", "b"])
    data.set("history", "a")
    assert data.get("history") == ["a", "a", "b", "a"]
    data.set("history", None)
    data.set("history", {"b": 1})
    data.set("history", {"b": 2})
    assert data.get("history") == [{"b": 1}, {"b": 2}]
    data.replace("history", [])
    assert data.get("history") == []


def test_three_layers_join() -> None:
    top = LayeredData({"l": [1]}, parent=LayeredData({"l": [2]}, parent=LayeredData({"l": [3], "x": 1})))
    assert top.get() == {"l": [1, 2, 3], "x": 1}


def test_layers_join_from_the_nearest_to_the_farthest() -> None:
    top = LayeredData({"a": [1]}, parent=LayeredData({"a": {"k": 2}}, parent=LayeredData({"a": "text"})))
    assert top.get() == {"a": [1, {"k": 2}, "text"]}
    assert top.get("a") == [1, {"k": 2}, "text"]


def test_what_was_given_is_not_changed_later() -> None:
    given = {"l": [1], "m": {"x": 1}}
    data = LayeredData(given)
    data.set("l", [2])
    data.set("m", {"y": 2})
    data.append("l", 3)
    assert given == {"l": [1], "m": {"x": 1}}
    assert data.get() == {"l": [1, 2, 3], "m": {"x": 1, "y": 2}}


def test_reading_copies_nothing() -> None:
    big = [object()]
    data = LayeredData({"a": {"b": big}}, parent=LayeredData({"c": 1}))
    assert data.get()["a"] is data.get("a")
    assert data.get("a.b")[0] is big[0]


def test_layered_data_as_a_value_becomes_its_data() -> None:
    assert LayeredData({"a": LayeredData({"b": 1})}).get() == {"a": {"b": 1}}


def test_get_distinguishes_none_from_nothing() -> None:
    data = LayeredData({"a": None})
    assert data.get("a", "default") is None
    assert data.get("b", "default") == "default"
    assert data.get("a.b", "default") == "default"


def test_computed_value_is_kept_until_a_layer_changes() -> None:
    parent = LayeredData({"a": 1})
    data = LayeredData({"b": 1}, parent=parent)
    calls: list[int] = []

    def compute(layer: LayeredData) -> int:
        calls.append(1)
        return layer["a"]

    assert data.compute(compute) == data.compute(compute) == 1
    assert len(calls) == 1
    parent.set("a", 2)
    assert data.compute(compute) == 2
    data.parent = LayeredData({"a": 3})
    assert data.compute(compute) == 3
    data.append("c", 1)
    data.delete("c")
    data.compute(compute)
    assert len(calls) == 4


def test_layer_without_data_shares_what_its_parent_computed() -> None:
    parent = LayeredData({"a": [1]})
    assert LayeredData(parent=parent).compute(list) is LayeredData(parent=parent).compute(list)
