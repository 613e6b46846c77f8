"""The rendered text of a prompt, rule by rule (docs/specification.md, chapter "Prompt")."""

from typing import Any

import pytest

from dovetail.errors import EmptyPromptError
from dovetail.prompt import Prompt

EMPTY = (
    "Prompt requires at least one of 'input', 'info', 'instruct', 'output', 'attachment' "
    "or customize extra prompt keys to be provided."
)
SAW = {"name": "saw", "desc": "Cut a plank.", "kwargs": {"mm": (int, "length")}}


def text(settings: Any = None, **slots: Any) -> str:
    return Prompt(slots, settings=settings).to_text()


def structure(output: Any) -> str:
    """What stands between `Data Structure:` and `[OUTPUT]:`."""
    rendered = text(input="q", output=output, output_format="json")
    return rendered.split("Data Structure:\n")[1].removesuffix("\n\n[OUTPUT]:\nassistant:")


@pytest.mark.parametrize(
    "slots",
    [
        {},
        {"input": ""},
        {"input": None, "info": {}, "instruct": [], "attachment": []},
        {"tools": [SAW]},
        {"action_results": {"saw": "done"}},
        {"examples": ["q -> a"]},
        {"chat_history": [{"role": "user", "content": "hello"}]},
        {"system": "You saw wood."},
        {"developer": "Be brief."},
        {"output_format": "text"},
        {"options": {"temperature": 0}},
        {"output": str},
    ],
)
def test_prompt_that_asks_for_nothing_is_refused_with_the_fixed_text(slots: dict[str, Any]) -> None:
    prompt = Prompt(slots)
    for render in (prompt.to_text, prompt.to_messages):
        with pytest.raises(KeyError) as caught:
            render()
        assert isinstance(caught.value, EmptyPromptError)
        assert caught.value.args == (EMPTY,)


@pytest.mark.parametrize(
    "slots",
    [
        {"input": "q"},
        {"info": "i"},
        {"instruct": "i"},
        {"output": {"a": (str,)}},
        {"attachment": [{"type": "text", "text": "t"}]},
        {"memo": None},
        {"input": 0},
        {"info": False},
    ],
)
def test_one_slot_or_one_extra_key_is_enough(slots: dict[str, Any]) -> None:
    assert Prompt(slots).to_text().startswith("user:\n")


def test_text_begins_with_the_user_and_ends_with_the_assistant() -> None:
    assert text(input="q") == "user:\n[INPUT]:\nq\n\n[OUTPUT]:\nassistant:"


def test_all_blocks_stand_in_their_fixed_order() -> None:
    rendered = text(
        output={"a": (str, "the answer")},
        input="in",
        examples="ex",
        instruct="do",
        memo="me",
        info="about",
        action_results="done",
        tools=[SAW],
        chat_history=[{"role": "user", "content": "hello"}],
        developer="dev",
        system="sys",
    )
    assert rendered == (
        "user:\n"
        "[SYSTEM]:\nsys\n\n"
        "[DEVELOPER DIRECTIONS]:\ndev\n\n"
        "[CHAT HISTORY]:\n[user]:hello\n\n"
        '[TOOLS]:\n[\nname: saw\ndesc: Cut a plank.\nkwargs: {\n  "mm": <int> // length\n}\n]\n'
        "[ACTION RESULTS]:\ndone\n\n"
        "[INFO]:\nabout\n\n"
        "[memo]:\nme\n\n"
        "[INSTRUCT]:\ndo\n\n"
        "[EXAMPLES]:\nex\n\n"
        "[INPUT]:\nin\n\n"
        "[OUTPUT REQUIREMENT]:\nData Format: JSON\nData Structure:\n"
        '{\n  "a": <str> // the answer\n}\n\n'
        "[OUTPUT]:\nassistant:"
    )


def test_empty_slots_print_no_block() -> None:
    empty: dict[str, Any] = dict.fromkeys(("system", "developer", "info", "instruct", "examples", "output"))
    assert text(input="q", chat_history=[], tools=[], action_results={}, **empty) == text(input="q")


def test_roles_of_the_call_win_over_those_of_the_settings() -> None:
    prompt = Prompt({"input": "q"}, settings={"prompt.role_mapping": {"user": "human", "assistant": "bot"}})
    assert prompt.to_text().startswith("human:")
    assert prompt.to_text().endswith("bot:")
    assert prompt.to_text({"user": "person"}).startswith("person:")
    assert prompt.to_text({"user": "person"}).endswith("bot:")


@pytest.mark.parametrize("odd", ["text", 5, ["user"], None])
def test_role_mapping_of_the_settings_that_is_not_a_mapping_counts_as_empty(odd: Any) -> None:
    prompt = Prompt({"input": "q", "chat_history": [{"role": "tool", "content": "t"}]})
    changed = Prompt(prompt.get(), settings={"prompt": {"role_mapping": odd}})
    assert changed.to_text().startswith("user:")
    assert changed.to_text().endswith("assistant:")


def test_role_of_the_history_is_mapped_then_takes_the_fallback_then_stays() -> None:
    history = [{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]
    mapped = Prompt({"input": "q", "chat_history": history})
    assert "[human]:a\n[assistant]:b\n" in mapped.to_text({"user": "human"})
    assert "[user]:a\n[other]:b\n" in mapped.to_text({"_": "other"})
    assert "[user]:a\n[machine]:b\n" in mapped.to_text({"tool": "machine"})


def test_history_prints_text_parts_alone() -> None:
    parts = [
        {"type": "text", "text": "one"},
        {"type": "image_url", "image_url": "u"},
        {"type": "text", "text": "two"},
    ]
    rendered = text(input="q", chat_history=[{"role": "user", "content": parts}])
    assert "[CHAT HISTORY]:\n[user]:one\n[user]:two\n\n[INPUT]:" in rendered


def test_titles_come_from_the_settings_and_extras_keep_their_key() -> None:
    titles = {"chat_history": "BEFORE", "input": "QUESTION", "output": "ANSWER"}
    rendered = text(
        settings={"prompt.prompt_title_mapping": titles},
        input="q",
        memo="m",
        chat_history=[{"role": "user", "content": "a"}],
    )
    assert rendered == ("user:\n[BEFORE]:\n[user]:a\n\n[memo]:\nm\n\n[QUESTION]:\nq\n\n[ANSWER]:\nassistant:")


def test_tools_print_one_bracket_each_and_structures_for_kwargs_and_returns() -> None:
    rendered = text(input="q", tools=[{**SAW, "returns": (bool,)}, {**SAW, "name": "rip", "tags": ["t"]}])
    assert rendered.startswith(
        "user:\n[TOOLS]:\n"
        '[\nname: saw\ndesc: Cut a plank.\nkwargs: {\n  "mm": <int> // length\n}\nreturns: <bool>\n]\n'
        "[\nname: rip\ndesc: Cut a plank.\nkwargs: {\n  \"mm\": <int> // length\n}\ntags: ['t']\n]\n"
        "[INPUT]:"
    )


@pytest.mark.parametrize("missing", ["name", "desc", "kwargs"])
def test_tool_without_a_needed_key_is_a_validation_error(missing: str) -> None:
    tool = {key: value for key, value in SAW.items() if key != missing}
    with pytest.raises(ValueError, match=f"needs {missing}"):
        text(input="q", tools=[tool])


def test_info_mapping_sequence_and_plain_value() -> None:
    def block(info: Any) -> str:
        return text(info=info).removeprefix("user:\n[INFO]:\n").removesuffix("\n\n[OUTPUT]:\nassistant:")

    assert block({"b": "x", "a": {"n": [1]}}) == "- b : x\n- a : {'n': [1]}"
    assert block(["x", {"k": "v"}, None]) == "- x\n- {'k': 'v'}\n- None"
    assert block(("x", 5)) == "- x\n- 5"
    assert block("one\ntwo") == "one\ntwo"


@pytest.mark.parametrize("slot", ["system", "developer", "action_results", "memo", "instruct", "examples"])
def test_yaml_blocks_sort_keys_keep_unicode_and_end_with_a_blank_line(slot: str) -> None:
    rendered = text(input="q", **{slot: {"b": "木", "a": [1, "x"]}})
    assert "]:\na:\n- 1\n- x\nb: 木\n\n\n[" in rendered


def test_input_block_is_yaml_too() -> None:
    assert "[INPUT]:\na: 1\nb: 2\n\n\n[OUTPUT]:" in text(input={"b": 2, "a": 1})


@pytest.mark.parametrize(
    ("value", "printed"), [(3, "3"), (True, "True"), (1.5, "1.5"), (0, "0"), (False, "False")]
)
def test_scalars_of_blocks_are_printed_as_text(value: Any, printed: str) -> None:
    for slot in ("system", "developer", "action_results", "memo", "instruct", "examples"):
        assert f"]:\n{printed}\n\n[INPUT]:" in text(input="q", **{slot: value})


def test_extras_keep_the_order_in_which_they_were_set() -> None:
    rendered = text(zeta="z", alpha="a", input="q", info="i")
    assert (
        rendered.index("[INFO]")
        < rendered.index("[zeta]")
        < rendered.index("[alpha]")
        < rendered.index("[INPUT]")
    )


def test_extra_that_is_none_prints_as_none() -> None:
    assert "[memo]:\nNone\n\n" in text(memo=None, input="q")


def test_json_requirement_shows_the_structure_and_a_blank_line() -> None:
    assert text(output={"a": (str,)}) == (
        "user:\n[OUTPUT REQUIREMENT]:\nData Format: JSON\nData Structure:\n"
        '{\n  "a": <str>\n}\n\n[OUTPUT]:\nassistant:'
    )


def test_markdown_requirement_has_no_blank_line() -> None:
    assert text(output={"a": (str,)}, output_format="markdown") == (
        "user:\n[OUTPUT REQUIREMENT]:\nData Format: markdown text\n[OUTPUT]:\nassistant:"
    )


def test_text_format_asks_for_nothing() -> None:
    assert text(input="q", output={"a": (str,)}, output_format="text") == text(input="q")


def test_output_title_ends_every_main_prompt() -> None:
    for slots in (
        {"input": "q"},
        {"info": 1},
        {"output": [(int,)]},
        {"attachment": [{"type": "text", "text": "t"}]},
    ):
        assert text(**slots).endswith("[OUTPUT]:\nassistant:")


def test_comment_stands_behind_the_comma_and_only_where_there_is_a_description() -> None:
    assert structure({"a": (str, "first"), "b": (int,), "c": (bool, "last")}) == (
        '{\n  "a": <str>, // first\n  "b": <int>,\n  "c": <bool> // last\n}'
    )


def test_lists_end_with_an_ellipsis_and_each_item_with_a_comma() -> None:
    assert structure({"a": [(str, "tag")]}) == '{\n  "a": [\n    <str>, // tag\n    ...\n  ]\n}'


def test_nested_mappings_are_indented_by_two_spaces_a_level() -> None:
    assert structure({"a": {"b": {"c": (str, "deep")}}}) == (
        '{\n  "a": {\n    "b": {\n      "c": <str> // deep\n    }\n  }\n}'
    )


def test_class_as_output_is_asked_for_as_value_and_reply() -> None:
    assert text(input="q", output=int) == (
        "user:\n[INPUT]:\nq\n\n[OUTPUT REQUIREMENT]:\nData Format: JSON\nData Structure:\n"
        '{\n  "value": <int>,\n  "reply": <str> // Reply according the result value\n}\n\n'
        "[OUTPUT]:\nassistant:"
    )


def test_str_as_output_means_plain_text() -> None:
    assert text(input="q", output=str) == text(input="q")
    assert Prompt({"input": "q", "output": str}).to_prompt_object().output_format == "markdown"


@pytest.mark.parametrize(
    ("slots", "output_format"),
    [
        ({"input": "q"}, "markdown"),
        ({"output": {"a": (str,)}}, "json"),
        ({"output": [(str,)]}, "json"),
        ({"output": int}, "json"),
        ({"output": {"a": (str,)}, "output_format": "markdown"}, "markdown"),
        ({"output": {"a": (str,)}, "output_format": "text"}, "text"),
    ],
)
def test_output_decides_the_format_where_none_is_given(slots: dict[str, Any], output_format: str) -> None:
    assert Prompt(slots).to_prompt_object().output_format == output_format
