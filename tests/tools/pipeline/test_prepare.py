"""Calls that are nearly right are repaired, never guessed, and the log says so."""

import json
from typing import Any

import pytest

from dovetail.events.call import Kind, ToolCall
from dovetail.tools import CallOutcome, RunContext, Tool, ToolRunner, ToolSnapshot
from dovetail.tools.result import read_value, to_dict

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "sure": {"type": "boolean"},
        "text": {"type": "string"},
        "mode": {"enum": ["Rip", "cross_cut"]},
        "planks": {"type": "array", "items": {"type": "string"}},
        "size": {"type": "object", "properties": {"length": {"type": "integer"}}, "required": ["length"]},
        "user_id": {"type": ["string", "null"]},
    },
    "required": ["count"],
    "additionalProperties": False,
}


def make_saw(kind: Kind = Kind.Read, name: str = "saw_plank") -> Tool:
    async def execute(args: dict[str, Any], context: Any) -> Any:
        return args

    return Tool(name=name, description="", parameters=SCHEMA, execute=execute, kind=kind)


async def call(
    arguments: str | dict[str, Any],
    *,
    kind: Kind = Kind.Read,
    name: str = "saw_plank",
    runner: ToolRunner | None = None,
    run: str = "run",
) -> CallOutcome:
    made = ToolCall(call_id="1", name=name, arguments=arguments)
    scope = RunContext(run_path=(run,), mode="yolo")
    return await (runner or ToolRunner()).run_call(ToolSnapshot.of([make_saw(kind)]), made, scope)


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ('{"count": 1}', {"count": 1}),
        ({"count": "42"}, {"count": 42}),
        ({"count": " 42 "}, {"count": 42}),
        ({"count": 1, "ratio": "0.5"}, {"count": 1, "ratio": 0.5}),
        ({"count": 1, "sure": "True"}, {"count": 1, "sure": True}),
        ({"count": 1, "text": 7}, {"count": 1, "text": "7"}),
        ({"count": 1, "text": False}, {"count": 1, "text": "false"}),
        ({"count": 1, "mode": "rip"}, {"count": 1, "mode": "Rip"}),
        ({"count": 1, "mode": "cross cut"}, {"count": 1, "mode": "cross_cut"}),
        ({"count": 1, "planks": '["oak", "ash"]'}, {"count": 1, "planks": ["oak", "ash"]}),
        ({"count": 1, "planks": "oak"}, {"count": 1, "planks": ["oak"]}),
        ({"count": 1, "size": '{"length": "3"}'}, {"count": 1, "size": {"length": 3}}),
        ({"count": 1, "userId": "ann"}, {"count": 1, "user_id": "ann"}),
        ({"count": 1, "text": None}, {"count": 1}),
        *(
            ({"count": 1, "sure": word}, {"count": 1, "sure": True})
            for word in ("yes", "On", "1", 1, 1.0, "Y", "t")
        ),
        *(
            ({"count": 1, "sure": word}, {"count": 1, "sure": False})
            for word in ("NO", "off", "0", 0, "n", "F")
        ),
        *(({"count": word}, {"count": 5}) for word in ("+5", "05", "5.0", "5.", "0_5")),
        ({"count": "12345678901234567890123"}, {"count": 12345678901234567890123}),
        ({"count": 1, "ratio": ".5"}, {"count": 1, "ratio": 0.5}),
        ({"count": "1", "planks": [1, True]}, {"count": 1, "planks": ["1", "true"]}),
        ({"count": "0"}, {"count": 0}),
        ('{"count": 1,}', {"count": 1}),
        ("{'count': 1, 'sure': True}", {"count": 1, "sure": True}),
        ('```json\n{"count": 1}\n```', {"count": 1}),
        ('Here you are: {"count": 1} // done', {"count": 1}),
        ('"{\\"count\\": 1}"', {"count": 1}),
        ('{"count": 1, "text": "two\nlines"}', {"count": 1, "text": "two\nlines"}),
        ('{"count": 1, "text": "grüß 😀 \\ud83d\\ude00"}', {"count": 1, "text": "grüß 😀 😀"}),
    ],
)
async def test_nearly_right_arguments_are_read(
    arguments: Any, read: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    outcome = await call(arguments)
    assert (outcome.status, outcome.result.data) == ("ok", read)
    was_right = isinstance(arguments, str) and _is_right(arguments, read)
    assert ("[tool-repair]" in caplog.text) != was_right


def _is_right(arguments: str, read: dict[str, Any]) -> bool:
    try:
        return json.loads(arguments) == read
    except ValueError:
        return False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"count": "many"}, '`count` must be integer, got "many"'),
        ({"count": 1.5}, "`count` must be integer, got 1.5"),
        ({"count": True}, "`count` must be integer, got true"),
        ("[1, 2]", "must be an object, got '[1, 2]'"),
        ("saw it", "are not JSON"),
        ('{"count": 1, "text": "a half', "are cut off inside `text`"),
        ('{"count": 1, "size": {"length": 3', "are cut off inside `size.length`"),
        ('{"count": ' + "[" * 5000 + "]" * 5000 + "}", "are nested deeper than 64 levels"),
        ("{'count': " + "[" * 5000, "are nested deeper than 64 levels"),
        ({"count": object()}, "Unsupported type"),
    ],
)
async def test_arguments_that_make_no_sense_are_reported(arguments: Any, words: str) -> None:
    outcome = await call(arguments)
    assert outcome.status == "error"
    assert outcome.result.error is not None
    assert outcome.result.error.type == "invalid_tool_params"
    assert words in outcome.result.error.message


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ('{"count": 1', " inside `count`"),
        ('{"count": 1,', " after `count`"),
        ('{"count": 1, "sure":', " after `count`"),
        ('{"count": 1, "su', " after `count`"),
        ('{"count": 1, "text": "a"', " after `text`"),
        ('{"count": 1, "size": {"length": 3}', " after `size`"),
        ('{"count": 1, "size": {"length": 3,', " inside `size`"),
        ('```json\n{"count": 1,\n', " after `count`"),
        ('{"count": 1, // one', " after `count`"),
        ('"{\\"count\\": 1,"', " after `count`"),
        ('{"arguments": {"count": 1}', ""),
        ('{"', ""),
    ],
)
async def test_arguments_that_were_never_closed_are_cut_off(arguments: str, place: str) -> None:
    outcome = await call(arguments, kind=Kind.Delete)
    assert outcome.status == "error"
    assert outcome.result.error is not None
    message = f"The arguments of 'saw_plank' are cut off{place}: send them again in full."
    assert outcome.result.error.message == message


async def test_very_deep_arguments_do_not_reach_the_validator() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"left": deep}
    outcome = await call({"count": 1, "size": deep})
    assert "nested deeper than 64 levels" in str(outcome.result.llm_content)
    while deep:  # taken apart by hand: deleting it as a whole would recurse
        deep = deep["left"]


@pytest.mark.parametrize(
    "arguments",
    [r'{"count": 1, "text": "a\ud83db\u0000"}', {"count": 1, "text": "a\ud83db\0"}],
    ids=["text", "object"],
)
async def test_arguments_reach_the_tool_as_clean_text(arguments: Any) -> None:
    outcome = await call(arguments)
    assert read_value(outcome.result) == {"count": 1, "text": "a\ufffdb\ufffd"}


async def test_hundreds_of_thousands_of_arguments_are_refused_at_once() -> None:
    outcome = await call({"count": 1, **{f"x{n}": n for n in range(400_000)}})
    assert "are too many: 400001, at most 1000 are allowed" in str(outcome.result.llm_content)


async def test_very_long_arguments_are_read_as_json_or_not_at_all() -> None:
    outcome = await call(json.dumps({"count": 1, "text": "x" * 200_000}))
    assert outcome.status == "ok"
    outcome = await call('{"count": 1, "text": "' + "x" * 200_000 + '",}')
    assert outcome.result.error is not None
    assert "are not JSON" in outcome.result.error.message


@pytest.mark.parametrize("name", ["Saw_Plank", "saw-plank", "functions.saw_plank", "default_api.SAW-PLANK"])
async def test_other_spelling_of_a_name_is_understood(name: str) -> None:
    assert (await call({"count": 1}, name=name)).status == "ok"


async def test_name_that_could_mean_two_tools_is_not_guessed() -> None:
    tools = ToolSnapshot.of([make_saw(name="saw_plank"), make_saw(name="saw-plank")])
    made = ToolCall(call_id="1", name="Saw_Plank", arguments={"count": 1})
    outcome = await ToolRunner().run_call(tools, made, RunContext())
    assert "Did you mean" in str(outcome.result.llm_content)


NOT_READ_ONLY = [kind for kind in Kind if not kind.is_read_only]


@pytest.mark.parametrize("kind", NOT_READ_ONLY)
@pytest.mark.parametrize(
    "wrong",
    [
        {"sure": "perhaps"},
        {"sure": ""},
        {"sure": 2},
        {"ratio": "10 rows"},
        {"dry_run": True},
        {"mode": "weird"},
    ],
)
async def test_nothing_vanishes_from_a_call_that_may_change_something(
    kind: Kind, wrong: dict[str, Any]
) -> None:
    outcome = await call({"count": 1, **wrong}, kind=kind)
    assert outcome.status == "error"
    assert f"`{next(iter(wrong))}`" in str(outcome.result.llm_content)


@pytest.mark.parametrize("kind", Kind)
async def test_null_for_an_optional_value_counts_as_left_out(kind: Kind) -> None:
    assert (await call({"count": "1", "text": None}, kind=kind)).result.data == {"count": 1}


async def test_null_inside_of_an_object_does_not_take_the_object_along() -> None:
    outcome = await call({"count": 1, "size": {"length": None}}, kind=Kind.Delete)
    assert outcome.status == "error"
    assert "`size.length`" in str(outcome.result.llm_content)


@pytest.mark.parametrize(
    ("wrong", "note"),
    [
        ({"ratio": "much"}, 'left out `ratio`: `ratio` must be number, got "much"'),
        ({"unknown": 3}, "left out `unknown`: `unknown` is not known; expected one of: count"),
    ],
)
async def test_what_a_reading_call_runs_without_is_reported_to_the_model(
    wrong: dict[str, Any], note: str
) -> None:
    outcome = await call({"count": 1, **wrong}, kind=Kind.Search)
    assert outcome.status == "ok"
    assert str(outcome.result.llm_content).startswith('{"count": 1}\n\n[Note: ' + note)
    assert note in str(to_dict(outcome.result)["notes"])
    assert note in read_value(outcome.result)  # the judging way reads this one


async def test_what_another_agent_is_given_is_never_left_out() -> None:
    agent = make_saw(Kind.Think).with_changes(origin="agent")
    made = ToolCall(call_id="1", name="saw_plank", arguments={"count": 1, "ratio": "much"})
    outcome = await ToolRunner().run_call(ToolSnapshot.of([agent]), made, RunContext(mode="yolo"))
    assert outcome.status == "error"


async def test_third_equal_failure_in_a_run_says_to_do_something_else() -> None:
    runner = ToolRunner()
    texts = [
        str((await call({"count": f"many {number}"}, runner=runner)).result.llm_content)
        for number in range(3)
    ]
    assert "do something else" not in texts[1]
    assert texts[2].endswith("This failed 3 times in the same way: try something else")
    other = await call({"count": "many 4"}, runner=runner, run="other run")
    assert "do something else" not in str(other.result.llm_content)
