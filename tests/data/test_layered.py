"""Layers merge, join and hide as promised, and reading copies nothing."""

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


def test_dotted_key_through_a_scalar_makes_room() -> None:
    data = LayeredData({"a": "text"})
    data.set("a.b", 1)
    assert data.get() == {"a": {"b": 1}}


def test_set_merges_mappings_deeply() -> None:
    data = LayeredData({"a": {"x": {"one": 1}, "l": [1]}})
    data.set("a", {"x": {"two": 2}, "l": [2, 1]})
    assert data.get("a") == {"x": {"one": 1, "two": 2}, "l": [1, 2]}


def test_set_of_none_replaces_a_list() -> None:
    data = LayeredData({"a": [1]})
    data.set("a", None)
    assert data.get() == {"a": None}


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
    with pytest.raises(KeyError, match="no value at 'b'; there are: a"):
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
    data.replace("history", [])
    assert data.get("history") == []


def test_three_layers_join() -> None:
    top = LayeredData({"l": [1]}, parent=LayeredData({"l": [2]}, parent=LayeredData({"l": [3], "x": 1})))
    assert top.get() == {"l": [1, 2, 3], "x": 1}


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


def test_get_tells_none_from_nothing() -> None:
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
