"""The edges of prompts: what the specification leaves to the recorded behaviour, point by point."""

import enum
from typing import Any

import pydantic
import pytest

from dovetail.prompt import Prompt, PromptModel
from dovetail.prompt.configure import read_yaml_prompt


class Tone(enum.StrEnum):
    WARM = "warm"


class Plank(pydantic.BaseModel):
    length: int = 1


def show(**slots: Any) -> str:
    """The main part of a text."""
    text = Prompt(slots).to_text()
    return text.removeprefix("user:\n").removesuffix("\n[OUTPUT]:\nassistant:")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "[INPUT]:\n0\n"),
        (False, "[INPUT]:\nFalse\n"),
        ({"s": {2, 1}}, "[INPUT]:\ns: !!set\n  1: null\n  2: null\n\n"),
        ({"t": Tone.WARM, "b": b"x"}, "[INPUT]:\nb: b'x'\nt: warm\n\n"),
        (Tone.WARM, "[INPUT]:\nwarm\n"),
        (Plank(), "[INPUT]:\nlength=1\n"),
        (Plank, "[INPUT]:\nlength:\n- int\n\n"),
    ],
)
def test_value_in_a_block(value: Any, shown: str) -> None:
    assert show(input=value) == shown


@pytest.mark.parametrize("empty", [None, "", [], {}, (), set(), b""])
def test_empty_collections_leave_no_trace(empty: Any) -> None:
    assert show(input="q", info=empty, instruct=empty, system=empty) == show(input="q")
    assert Prompt({"input": "q", "info": empty}).to_messages() == [{"role": "user", "content": "q"}]


def test_bytes_and_ranges_in_info_are_sequences() -> None:
    assert show(info=b"ab") == "[INFO]:\n- 97\n- 98\n"
    assert show(info=range(2)) == "[INFO]:\n- 0\n- 1\n"


@pytest.mark.parametrize(
    ("output", "output_format"),
    [
        ({}, "json"),
        ([], "json"),
        ((), "json"),
        ("words", "markdown"),
        ("", "markdown"),
        (None, "markdown"),
        (0, "markdown"),
        ({1}, "markdown"),
        (list[int], "markdown"),
        (int, "json"),
        (str, "markdown"),
    ],
)
def test_output_decides_the_format(output: Any, output_format: str) -> None:
    assert Prompt({"input": "q", "output": output}).to_prompt_object().output_format == output_format


def test_prompt_object_has_empty_defaults() -> None:
    made = Prompt({"input": "q"}).to_prompt_object()
    assert (made.chat_history, made.attachment, made.options, made.tools) == ([], [], {}, None)
    assert PromptModel().output_format == "markdown"
    assert Prompt({"input": "q", "chat_history": None, "options": None}).to_prompt_object().options == {}


@pytest.mark.parametrize(
    ("tool", "rule"),
    [
        ({"name": "saw", "desc": "cut", "kwargs": {}}, "tools must be a list"),
        ([{"name": 5, "desc": "cut", "kwargs": {}}], "a tool's name must be text"),
        ([{"name": "saw", "desc": None, "kwargs": {}}], "a tool's desc must be text"),
        ([{"name": "saw", "desc": "cut", "kwargs": []}], "a tool's kwargs must be a mapping"),
        ([{"name": "saw", "desc": "cut", "kwargs": {2.5: int}}], "a mapping with names as keys, got {2.5"),
    ],
)
def test_tools_are_checked(tool: Any, rule: str) -> None:
    with pytest.raises(pydantic.ValidationError, match=rule):
        Prompt({"input": "q", "tools": tool}).to_text()


def test_options_are_a_mapping() -> None:
    with pytest.raises(pydantic.ValidationError, match="options must be a mapping, got 'hot'"):
        Prompt({"input": "q", "options": "hot"}).to_text()


def test_keys_of_a_tool_come_in_one_order() -> None:
    tool = {
        "tags": ["a"],
        "returns": (bool, "done"),
        "kwargs": {"n": (int, "")},
        "desc": "cut",
        "name": "saw",
    }
    assert show(input="q", tools=[tool]).startswith(
        "[TOOLS]:\n[\nname: saw\ndesc: cut\n"
        'kwargs: {\n  "n": <int> //\n}\n'
        "returns: <bool>\ntags: ['a']\n]\n"
    )
    made = Prompt({"input": "q", "tools": [tool]}).to_prompt_object()
    assert made.tools is not None
    assert list(made.tools[0]) == ["name", "desc", "kwargs", "returns", "tags"]


def test_extra_key_is_its_own_title() -> None:
    settings = {"prompt.prompt_title_mapping": {"memo": "NOTE"}}
    assert "[memo]:\nx\n" in Prompt({"memo": "x"}, settings=settings).to_text()


@pytest.mark.parametrize("ignored", [5, "x", [], [1]])
def test_roles_that_are_not_a_mapping_are_ignored(ignored: Any) -> None:
    prompt = Prompt({"input": "q"})
    assert prompt.to_text(role_mapping=ignored).startswith("user:")
    assert prompt.to_messages(role_mapping=ignored)[0]["role"] == "user"
    assert Prompt({"input": "q"}, settings={"prompt.role_mapping": ignored}).to_text().startswith("user:")


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({"content": "x"}, "[user]:x"),
        ({"role": "user", "content": 5}, "[user]:5"),
        ({"role": "user", "content": {"a": 1}}, "[user]:{'a': 1}"),
        ({"role": "user", "content": {"type": "text", "text": "x"}}, "[user]:x"),
        ({"role": "user", "content": ({"type": "text", "text": "x"},)}, "[user]:x"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, "[user]:5"),
        ({"role": "user", "content": [{"type": "text"}]}, "[user]:None"),
        ({"role": "user", "content": b"x"}, "[user]:x"),
        (5, "[user]:5"),
    ],
)
def test_history_of_any_content(entry: Any, line: str) -> None:
    prompt = Prompt({"input": "q", "chat_history": [entry]})
    assert prompt.to_text().startswith(f"user:\n[CHAT HISTORY]:\n{line}\n\n")
    assert prompt.to_messages()[0] == {"role": "user", "content": line.removeprefix("[user]:")}


def test_history_that_is_neither_list_nor_message_is_one_text() -> None:
    said = ({"role": "user", "content": "x"},)
    assert Prompt({"input": "q", "chat_history": said}).to_messages()[0] == {
        "role": "user",
        "content": str(said),
    }


def test_part_has_its_type_first_and_a_place_for_its_payload() -> None:
    parts = [{"image_url": "u", "type": "image_url"}, {"type": "video"}, {"type": "json"}]
    message = Prompt({"attachment": parts}).to_messages(rich_content=True)[0]
    assert [list(part.items()) for part in message["content"]] == [
        [("type", "image_url"), ("image_url", "u")],
        [("type", "video"), ("video", None)],
        [("type", "json")],
    ]


def test_entries_and_parts_of_a_prompt_object_can_be_given_again() -> None:
    picture = {"type": "image_url", "image_url": "u"}
    made = Prompt(
        {"chat_history": [{"role": "user", "content": [picture]}], "attachment": [picture]}
    ).to_prompt_object()
    prompt = Prompt()
    prompt["chat_history"], prompt["attachment"] = made.chat_history, made.attachment
    messages = prompt.to_messages(rich_content=True)
    assert messages[0] == {"role": "user", "content": [picture]}
    assert messages[-1] == {"role": "user", "content": [picture]}


class Wood(enum.Enum):
    OAK = "oak"


class Mood(str, enum.Enum):  # noqa: UP042 (users write it)
    GOOD = "good"


@pytest.mark.parametrize(
    ("word", "text"), [(Wood.OAK, "oak"), (Mood.GOOD, "good"), (Tone.WARM, "warm"), (b"ash", "ash")]
)
def test_enum_members_and_bytes_are_read_where_text_is_needed(word: Any, text: str) -> None:
    assert f"[\nname: {text}\ndesc: {text}\n" in show(
        input="q", tools=[{"name": word, "desc": word, "kwargs": {}}]
    )
    prompt = Prompt({"input": "q", "chat_history": {"role": word, "content": word}})
    prompt.set("chat_history", {"content": [{"type": "text", "text": word}]})
    role_mapping = {"_": "model"}
    assert f"[model]:{text}\n[user]:{text}\n" in prompt.to_text(role_mapping)
    first, second, third, *_ = prompt.to_messages(role_mapping, rich_content=True)
    assert first["role"] == "user"
    assert second == {"role": "model", "content": [{"type": "text", "text": text}]}
    assert third == {"role": "user", "content": [{"type": "text", "text": text}]}


def test_assignment_stores_the_value_as_it_is() -> None:
    prompt = Prompt({"info": {"a": 1}, "instruct": ["x"]})
    prompt["input"] = "  q\n  "
    prompt["info"] = {"b": 2}
    prompt["instruct"] = ["y"]
    assert prompt.get() == {"info": {"b": 2}, "instruct": ["y"], "input": "  q\n  "}


@pytest.mark.parametrize("output", [[(str, "")], [(str, None)]])
def test_list_item_without_a_description_has_no_comment(output: Any) -> None:
    assert "[\n  <str>,\n  ...\n]\n" in show(input="q", output=output)
    assert '"a": <str> //\n' in show(input="q", output={"a": output[0]})


def test_tuple_in_a_tuple_is_one_leaf() -> None:
    assert "\"a\": <('str', 'x')> // y\n" in show(input="q", output={"a": ((str, "x"), "y")})


def test_only_the_text_with_odd_breaks_is_escaped_in_yaml() -> None:
    text = Prompt({"input": "a\u2028b 木", "info": {"k": "木\x85"}, "memo": "木"}).to_yaml_prompt()
    assert text == 'input: "a\\Lb 木"\ninfo:\n  k: "木\\N"\nmemo: 木\n'
    assert read_yaml_prompt(text).request["input"] == "a\u2028b 木"


def test_set_is_exported_to_json_as_a_list_and_to_yaml_as_a_set() -> None:
    prompt = Prompt({"info": {"b", "a"}, "memo": {"t": Tone.WARM}})
    assert prompt.to_serializable_prompt_data()["info"] == {"a", "b"}
    assert '"info": [\n    "a",\n    "b"\n  ]' in prompt.to_json_prompt()
    assert prompt.to_yaml_prompt().endswith("memo:\n  t: warm\n")


def test_class_is_exported_by_its_fields_only_where_the_format_asks_for_them() -> None:
    asked = Prompt({"output": Plank}).to_serializable_prompt_data()["output"]
    assert asked["value"] == {"$type": {"length": "int"}}
    given = Prompt({"output": Plank, "output_format": "markdown"}).to_serializable_prompt_data()["output"]
    assert given == {"length": "int"}


def test_fields_of_a_class_are_exported_so_that_they_render_the_same() -> None:
    class Board(pydantic.BaseModel):
        length: int = pydantic.Field(description="in mm")
        wood: str | None = None

    prompt = Prompt({"input": "q", "output": {"board": Board, "boards": [(Board, "all")]}})
    assert prompt.to_serializable_prompt_data()["output"] == {
        "board": {"length": {"$type": "int", "$desc": "in mm"}, "wood": "str | None"},
        "boards": [
            {"$type": {"length": {"$type": "int", "$desc": "in mm"}, "wood": "str | None"}, "$desc": "all"}
        ],
    }
    loaded = Prompt(read_yaml_prompt(prompt.to_yaml_prompt()).request)
    assert loaded.to_text() == prompt.to_text()
