"""Agents that are written as Markdown files: their limits, and where their runs wait."""

from pathlib import Path

import pytest

from dovetail.agents.definition import INHERIT, AgentDefinition, RunConfig
from dovetail.agents.file import apply_override, find_ignored, load_definition, locate
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


def load(folder: Path, written: str) -> AgentDefinition:
    path = folder / "agent.md"
    path.write_text(f"---\ndescription: Writes.\n{written}\n---\nYou write.\n", encoding="utf-8")
    return load_definition(path)


def test_a_file_of_claude_code_is_read(tmp_path: Path) -> None:
    written = "tools: Read, Grep\nmodel: inherit\ncolor: blue\npermissionMode: plan\nmaxTurns: 7\nhooks: {}"
    agent = load(tmp_path, written)
    assert agent.tool_config.names == ("Read", "Grep")
    assert agent.model_config.model == INHERIT
    assert agent.run_config.max_turns == 7
    assert find_ignored(tmp_path / "agent.md") == ["color", "hooks", "permissionMode"]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("model: sonnet", "Unknown model 'sonnet'"),
        ("disallowedTools: Bash(rm:*)", "`disallowedTools` must be a list of tools, got ['Bash(rm:*)']."),
        ("disallowedTools: {Bash: true}", "`disallowedTools` must be a list of tools"),
        ("name: Writes: well", "in quotes"),
    ],
)
def test_what_a_foreign_file_means_otherwise_is_refused(tmp_path: Path, written: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, written)
    assert complaint in str(caught.value)


def list_wanted(agent: AgentDefinition) -> list[str]:
    names = ("read_file", "search_files", "write_file", "run_shell_command")
    return [name for name in names if agent.tool_config.wants(name)]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("{write_file: false}", ["read_file", "search_files", "run_shell_command"]),
        ("{write: false, edit: false, bash: false}", ["read_file", "search_files"]),
        ('{"*": false, read_file: true}', ["read_file"]),
        ('{read_file: true, "*": false}', ["read_file"]),
        ('{"*_file": false, read_file: true}', ["read_file", "search_files", "run_shell_command"]),
        ('{"*": true, write_file: false}', ["read_file", "search_files", "run_shell_command"]),
        ('{"*": false}', []),
        ("{}", ["read_file", "search_files", "write_file", "run_shell_command"]),
    ],
)
def test_tools_are_switched_off_and_on_as_in_opencode(
    tmp_path: Path, written: str, wanted: list[str]
) -> None:
    assert list_wanted(load(tmp_path, f"tools: {written}")) == wanted


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("disallowedTools: Write, Bash", ["read_file", "search_files"]),
        ("disallowedTools: [write_file]", ["read_file", "search_files", "run_shell_command"]),
        ("tools: read_file, write_file\ndisallowedTools: Write", ["read_file"]),
        ("tools: {bash: false}\ndisallowedTools: Write", ["read_file", "search_files"]),
        ("tools: []\ndisallowedTools: Write", []),
        ("tools: read_file\ndisallowedTools:", ["read_file"]),
    ],
)
def test_tools_that_claude_code_disallows_are_switched_off(
    tmp_path: Path, written: str, wanted: list[str]
) -> None:
    assert list_wanted(load(tmp_path, written)) == wanted


def test_a_file_names_its_own_mcp_servers_in_two_spellings(tmp_path: Path) -> None:
    for key in ("mcp_servers", "mcpServers"):
        agent = load(tmp_path, f"{key}: [notes, files]")
        assert agent.tool_config.mcp_servers == ("notes", "files")
    changed = apply_override(agent, {"tools": ["read_file"]})
    assert changed.tool_config.mcp_servers == ("notes", "files")


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("mcp_servers: {notes: {command: npx}}", "`mcp_servers` must be a list of names of configured MCP"),
        ("mcpServers: [{notes: {url: 'http://x'}}]", "as [mcp.servers.<name>], then write `mcp_servers:"),
        ("mcp_servers: [a]\nmcpServers: [b]", "Use either `mcp_servers` or `mcpServers`, not both."),
        ("tools: {write_file: no thanks}", "`tools` must be a list of tool names or globs"),
        ("tools: [{a: b}]\ndisallowedTools: Bash", "`tools` must be a list of tool names or globs"),
        ("tools: 5", "or `tools: {write_file: false}` for all but some"),
    ],
)
def test_servers_and_tools_of_another_form_are_refused_with_the_one_that_works(
    tmp_path: Path, written: str, complaint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, written)
    assert complaint in str(caught.value)


def test_a_word_is_found_in_the_front_matter_only(tmp_path: Path) -> None:
    load(tmp_path, "tools:\n  - read_file\n  - read")
    path = tmp_path / "agent.md"
    assert locate(path, "read") == f"{path}:5"
    assert locate(path, "You") == str(path)
    assert locate("code", "read") == "code"
