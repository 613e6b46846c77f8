"""The key `schedule` of agent files: one line or a list of tables; what is asked; what is refused."""

from pathlib import Path

import pytest

from dovetail.agents.definition import AgentDefinition
from dovetail.agents.file import load_definition
from dovetail.agents.schedule import MOST_SCHEDULES
from dovetail.data.cron import Cron
from dovetail.errors import ConfigError


def load(folder: Path, front: str) -> AgentDefinition:
    path = folder / "scout.md"
    path.write_text(f"---\ndescription: Looks.\n{front}\n---\nLook well.")
    return load_definition(path)


def test_a_line_asks_the_query_of_the_agent(tmp_path: Path) -> None:
    (schedule,) = load(tmp_path, 'query: Look around.\nschedule: "0 9 * * 1-5 Europe/Berlin"').schedules
    assert schedule.cron == Cron("0 9 * * 1-5", "Europe/Berlin")
    assert (schedule.message, schedule.missed, schedule.owner) == ("Look around.", "latest", None)


def test_the_query_is_filled_with_the_defaults_of_its_inputs(tmp_path: Path) -> None:
    inputs = "inputs: {place: {type: string, default: the garden}}"
    (schedule,) = load(tmp_path, f'{inputs}\nquery: "Look at ${{place}}."\nschedule: 0 9 * * *').schedules
    assert schedule.message == "Look at the garden."


def test_a_list_holds_several_schedules(tmp_path: Path) -> None:
    front = """
schedule:
  - schedule: 0 9 * * *
    message: Good morning.
    title: Morning
    session_id: daily
    missed: skip
    owner: ann
    model: openai:gpt-4.1
    mode: plan
  - {schedule: 0 18 * * *, message: Good evening.}
"""
    morning, evening = load(tmp_path, front).schedules
    assert (morning.title, morning.session_id, morning.missed) == ("Morning", "daily", "skip")
    assert (morning.owner, morning.model, morning.mode) == ("ann", "openai:gpt-4.1", "plan")
    assert (evening.message, evening.title, evening.session_id) == ("Good evening.", "", None)


def test_a_file_without_the_key_has_no_schedules(tmp_path: Path) -> None:
    assert load(tmp_path, "query: Look.").schedules == ()


def test_the_example_is_sound() -> None:
    path = Path(__file__).parent.parent.parent / "examples" / "agents" / "reporter.md"
    (schedule,) = load_definition(path).schedules
    assert str(schedule.cron) == "0 9 * * 1-5 Europe/Berlin"


@pytest.mark.parametrize(
    ("front", "problem"),
    [
        ("schedule: 61 9 * * *\nquery: x", "`schedule`: Invalid minute '61'"),
        ("schedule: 0 9 * * * Europe/Berln\nquery: x", "Did you mean 'Europe/Berlin'?"),
        ("schedule: 5\nquery: x", "`schedule`: A schedule must be a line of text, got 5"),
        ("schedule: 0 9 * * *", "`schedule`: Missing `message`"),
        (
            "inputs: {place: {type: string, required: true}}\nquery: Look at ${place}.\nschedule: 0 9 * * *",
            "`schedule`: Missing `message`",
        ),
        ("schedule: [{message: x}]", "`schedule[0]`: Missing `schedule`"),
        (
            "schedule: [{schedule: 0 9 * * *, message: x}, {schedule: 0 9 * * *, mesage: x}]",
            "`schedule[1]`: Unknown key 'mesage'. Did you mean 'message'?",
        ),
        ("schedule: [{schedule: 0 9 * * *, message: 5}]", "`schedule[0]`: `message` must be text, got 5"),
        ("schedule: [{schedule: 0 9 * * *, message: x, missed: all}]", "Expected one of: latest, skip."),
        (f"query: x\nschedule: [{', '.join(['0 9 * * *'] * (MOST_SCHEDULES + 1))}]", "at most 50 are read"),
    ],
)
def test_a_wrong_schedule_is_an_error_of_its_file(tmp_path: Path, front: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, front)
    assert problem in caught.value.message
    assert "scout.md" in caught.value.message
