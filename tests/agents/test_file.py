"""Agents that are written as Markdown files: their limits, and where their runs wait."""

from pathlib import Path

import pytest

from dovetail.agents.definition import RunConfig
from dovetail.agents.file import apply_override, load_definition
from dovetail.errors import ConfigError


def test_limits_are_read_flat_or_as_the_table_of_the_settings(tmp_path: Path) -> None:
    flat = "max_cost: 0.5\nmax_calls: 20\nmax_cost_per_day: 5\nmax_calls_per_day: 200\nmax_turns: 9"
    table = "limits: {cost: 0.5, calls: 20, turns: 9, day: {cost: 5, calls: 200}}"
    configs: list[RunConfig] = []
    for number, written in enumerate((flat, table)):
        path = tmp_path / f"agent{number}.md"
        path.write_text(f"---\ndescription: Writes.\n{written}\n---\nYou write.\n", encoding="utf-8")
        configs.append(load_definition(path).run_config)
    expected = RunConfig(max_turns=9, max_cost=0.5, max_calls=20, max_cost_per_day=5, max_calls_per_day=200)
    assert configs == [expected, expected]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("limits: 5", "`limits` must be a table of limits, got 5"),
        ("limits: {day: 5}", "`limits` must be a table of limits"),
        ("limits: {costs: 5}", "Unknown limit 'costs'. Did you mean 'cost'?"),
        ("limits: {day: {turns: 5}}", "Unknown limit 'turns'. Expected one of: calls, cost"),
        ("limits: {cost: 5}\nmax_cost: 5", "Use either `max_cost` or the same limit in `limits`, not both"),
        ("limits: {cost: -1}", "`max_cost` must be a positive number, got -1"),
        ("limits: {calls: 1.5}", "`max_calls` must be a whole number, got 1.5"),
        ("limits: {cost: null}", "`max_cost` has no value"),
    ],
)
def test_wrong_limits_are_refused(tmp_path: Path, written: str, complaint: str) -> None:
    path = tmp_path / "agent.md"
    path.write_text(f"---\ndescription: Writes.\n{written}\n---\nYou write.\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_definition(path)
    assert complaint in str(caught.value)


def test_a_file_names_the_queue_and_the_priority_of_its_runs(tmp_path: Path) -> None:
    path = tmp_path / "agent.md"
    path.write_text(
        "---\ndescription: Writes.\nqueue: slow\npriority: -5\n---\nYou write.\n", encoding="utf-8"
    )
    definition = load_definition(path)
    assert (definition.run_config.queue, definition.run_config.priority) == ("slow", -5)
    changed = apply_override(definition, {"queue": "fast", "priority": 3})
    assert (changed.run_config.queue, changed.run_config.priority) == ("fast", 3)


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("queue: 5", "`queue` must be a name, got 5"),
        ("queue: a b", "`queue` must be a name, got 'a b'"),
        ("queue: null", "`queue` has no value"),
        ("priority: high", "`priority` must be a whole number from -1000000 to 1000000, got 'high'"),
        ("priority: true", "`priority` must be a whole number"),
        ("priority: 1.5", "`priority` must be a whole number"),
    ],
)
def test_a_wrong_queue_or_priority_is_refused(tmp_path: Path, written: str, complaint: str) -> None:
    path = tmp_path / "agent.md"
    path.write_text(f"---\ndescription: Writes.\n{written}\n---\nYou write.\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_definition(path)
    assert complaint in caught.value.message
