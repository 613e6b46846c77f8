"""Agents from code and from files, and which files of a project are trusted."""

from pathlib import Path

import pytest

from dovetail.agents.definition import AgentDefinition, RunConfig
from dovetail.agents.registry import AgentRegistry, TrustRecord
from dovetail.assets import find_assets
from dovetail.errors import ConfigError
from dovetail.settings import Settings

GOOD = "---\nname: scout\ndescription: Looks around.\ntools: [read_*]\nmax_turns: 4\n---\nYou look around.\n"


def test_file_becomes_a_definition(tmp_path: Path) -> None:
    (tmp_path / "scout.md").write_text(GOOD)
    registry = AgentRegistry()
    registry.load_folder(tmp_path)
    definition = registry.get_definition("scout")
    assert definition.prompt_config.system_prompt == "You look around."
    assert definition.tool_config.tools == ("read_*",)
    assert definition.run_config.max_turns == 4
    assert list(definition.input_config.inputs) == ["query"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("no front matter", "Missing front matter"),
        ("---\nname: a\n", "has no end"),
        ("---\nname: a\n---\n", "no description"),
        ("---\n- a\n---\n", "`key: value` lines"),
        ("---\ndescription: d\ncolour: red\n---\n", "Unknown key 'colour'. Expected one of: "),
        ("---\ndescription: d\ntolls: [add]\n---\n", "Unknown key 'tolls'. Did you mean 'tools' or 'tool'?"),
        ("---\ndescription: [\n---\n", "not valid YAML"),
        ("---\ndescription: d\nmax_turns: -1\n---\n", "positive number, got -1"),
        ("---\ndescription: d\ntools: 5\n---\n", "list of tool names"),
        ("---\ndescription: d\noutput: text\n---\n", "`output` must be a mapping"),
        ("---\ndescription: d\noutput: {schema: 5}\n---\n", "`output.schema` must be a JSON Schema, got 5"),
        ("---\ndescription: d\noutput: {schema: {type: 5}}\n---\n", "output.schema"),
        ("---\ndescription: d\nname: a b\n---\n", "Invalid agent name 'a b'"),
        ("---\ndescription: d\nname: my.dotted\n---\nDo.", "Invalid agent name 'my.dotted'"),
        ("---\ndescription: d\nname: 日本\n---\nDo.", "Invalid agent name '日本'"),
        (f"---\ndescription: d\nname: {'x' * 80}\n---\nDo.", "1 to 64 of the characters"),
        ("---\ndescription: d\n---\n", "Missing system prompt"),
        ("---\ndescription: d\n---\nSee ${HOME}.", "Unknown placeholder ${HOME}. Expected one of: query"),
        ("---\ndescription: d\nquery: ${unknown}\n---\nDo.", "Unknown placeholder ${unknown}"),
        ("---\ndescription: d\nmax_turns: 2.5\n---\nDo.", "`max_turns` must be a whole number, got 2.5"),
        ("---\ndescription: d\nmax_turns: true\n---\nDo.", "`max_turns` must be a positive number, got True"),
        ("---\ndescription: d\nmax_seconds: .nan\n---\nDo.", "`max_seconds` must be a positive number"),
        ("---\ndescription: d\nmax_tokens: .inf\n---\nDo.", "`max_tokens` must be a positive number"),
        ("---\ndescription: d\nmax_seconds:\n---\nDo.", "`max_seconds` has no value"),
        ("---\ndescription: d\nkind: remote\n---\nDo.", "`kind` must be local, got 'remote'"),
        ("---\ndescription: d\nmcp_servers: {}\n---\nDo.", "[mcp.servers.<name>]"),
        ("---\ndescription: d\ntimeout_mins: .inf\n---\nDo.", "`timeout_mins` must be a positive number"),
        ("---\ndescription: d\ninputs: [text]\n---\n", "`inputs` must map each name to a description"),
        (
            "---\ndescription: d\ninputs: {text: string}\n---\n",
            "`inputs` must map each name to a description",
        ),
        ("---\ndescription: d\ninput_schema: {type: odd}\n---\n", "input_schema"),
        ("---\ndescription: d\ninput_schema: {}\ninputs: {}\n---\n", "not both"),
        ("---\ndescription: d\nmodel: [a]\n---\n", "`model` must be a name"),
        ("---\ndescription: d\noptions: 0.5\n---\n", "`options` must be a mapping"),
        ("---\ndescription: d\ntool: never\n---\n", "`tool` must be true or false"),
    ],
)
def test_bad_file_is_reported_and_the_others_live_on(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "bad.md").write_text(text)
    (tmp_path / "scout.md").write_text(GOOD)
    registry = AgentRegistry()
    registry.load_folder(tmp_path)
    assert [definition.name for definition in registry.get_all_definitions()] == ["scout"]
    assert complaint in registry.broken[0].error
    assert "bad.md" in registry.broken[0].error


def test_output_may_be_of_any_type(tmp_path: Path) -> None:
    (tmp_path / "lister.md").write_text("---\ndescription: d\noutput: {schema: {type: array}}\n---\nList.\n")
    registry = AgentRegistry()
    registry.load_folder(tmp_path)
    assert registry.broken == []
    output = registry.get_definition("lister").output_config
    assert output is not None
    assert output.schema == {"type": "array"}


def test_unknown_agent_names_the_nearest() -> None:
    registry = AgentRegistry()
    registry.register_agent(AgentDefinition(name="summarizer", description="d"))
    with pytest.raises(ConfigError, match=r"Unknown agent 'sumarizer'\. Did you mean 'summarizer'\?"):
        registry.get_definition("sumarizer")


def test_two_agents_of_one_name_are_refused_with_both_owners() -> None:
    registry = AgentRegistry()
    registry.register_agent(AgentDefinition(name="a", description="one", source="one.md"))
    with pytest.raises(ConfigError, match=r"from one\.md and from two\.md"):
        registry.register_agent(AgentDefinition(name="a", description="two", source="two.md"))


def test_reading_files_again_keeps_agents_from_code(tmp_path: Path) -> None:
    (tmp_path / "scout.md").write_text(GOOD)
    registry = AgentRegistry()
    registry.register_agent(AgentDefinition(name="a", description="d"))
    registry.load_folder(tmp_path)
    (tmp_path / "scout.md").unlink()
    registry.replace_files([tmp_path])
    assert [definition.name for definition in registry.get_all_definitions()] == ["a"]


def test_nearer_folder_hides_a_namesake_further_away(tmp_path: Path) -> None:
    for folder, text in (("near", "Near."), ("far", "Far.")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "scout.md").write_text(GOOD.replace("You look around.", text))
    registry = AgentRegistry()
    registry.replace_files([tmp_path / "near", tmp_path / "far"])
    assert registry.get_definition("scout").prompt_config.system_prompt == "Near."
    assert registry.broken == []


def test_two_files_of_one_folder_with_one_name_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(GOOD)
    (tmp_path / "b.md").write_text(GOOD.replace("around", "about"))
    registry = AgentRegistry()
    registry.load_folder(tmp_path)
    assert "Two agents have the name 'scout'" in registry.broken[0].error


def test_shipped_agents_are_sound() -> None:
    registry = AgentRegistry()
    folder = find_assets("agents")
    assert folder is not None
    registry.load_folder(folder)
    assert registry.broken == []
    assert {"master", "codebase_investigator", "summarizer"} <= {
        definition.name for definition in registry.get_all_definitions()
    }


@pytest.mark.parametrize(
    ("name", "description", "complaint"),
    [
        ("bad name!", "d", "Invalid agent name 'bad name!'"),
        ("", "d", "Invalid agent name ''"),
        ("my.dotted", "d", "Invalid agent name"),
        ("日本", "d", "Invalid agent name"),
        ("x" * 65, "d", "Invalid agent name"),
        ("fine", "", "Agent 'fine' has no description"),
        ("fine", "  ", "Agent 'fine' has no description"),
    ],
)
def test_definition_that_providers_refuse_is_refused_at_registration(
    name: str, description: str, complaint: str
) -> None:
    registry = AgentRegistry()
    with pytest.raises(ConfigError, match=complaint):
        registry.register_agent(AgentDefinition(name=name, description=description))
    assert registry.get_all_definitions() == ()


@pytest.mark.parametrize("limits", [{"max_turns": 0}, {"max_seconds": float("nan")}, {"max_tokens": 1.5}])
def test_limits_must_be_positive_finite_numbers(limits: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(limits))):
        RunConfig(**limits)  # pyright: ignore[reportArgumentType]


def test_broken_edit_keeps_the_last_good_version_and_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "scout.md"
    file.write_text(GOOD)
    registry = AgentRegistry()
    registry.replace_files([tmp_path])
    file.write_text("---\nname: scout\n---\nNo description.")
    for _ in range(2):
        report = registry.replace_files([tmp_path])
        assert registry.get_definition("scout").prompt_config.system_prompt == "You look around."
        assert "has no description" in registry.broken[0].error
        assert "The last good version stays in service." in registry.broken[0].error
        assert (report.failed[0].keeps_last_good, report.changed, report.removed) == (True, (), ())
    file.unlink()
    assert registry.replace_files([tmp_path]).removed == ("scout",)


def test_report_names_what_is_new_changed_and_removed(tmp_path: Path) -> None:
    registry = AgentRegistry()
    (tmp_path / "scout.md").write_text(GOOD)
    assert registry.replace_files([tmp_path]).to_dict() == {
        "new": ("scout",),
        "changed": (),
        "removed": (),
        "failed": (),
    }
    (tmp_path / "scout.md").write_text(GOOD.replace("around", "about"))
    (tmp_path / "other.md").write_text(GOOD.replace("scout", "other"))
    report = registry.replace_files([tmp_path])
    assert (report.new, report.changed) == (("other",), ("scout",))
    (tmp_path / "scout.md").unlink()
    assert registry.replace_files([tmp_path]).removed == ("scout",)


def test_settings_change_agents_and_switch_them_off() -> None:
    scout = {
        "model": "openai:small",
        "max_turns": 3,
        "max_children": 0,
        "tools": ["read_*"],
        "options": {"temperature": 0},
    }
    settings = Settings({"agents": {"scout": scout, "other": {"enabled": False}}})
    registry = AgentRegistry(settings=settings)
    for name in ("scout", "other"):
        registry.register_agent(AgentDefinition(name=name, description="d"))
    [definition] = registry.get_all_definitions()
    assert registry.get_definition("scout") == definition
    assert (definition.model_config.model, definition.model_config.options) == (
        "openai:small",
        {"temperature": 0},
    )
    assert (definition.run_config.max_turns, definition.run_config.max_children) == (3, 0)
    assert (definition.run_config.max_seconds, definition.tool_config.tools) == (600.0, ("read_*",))
    assert [each.name for each in registry.get_disabled()] == ["other"]
    with pytest.raises(ConfigError, match=r"disabled by the setting agents\.other\.enabled"):
        registry.get_definition("other")


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ({"modle": "x"}, "Unknown setting 'agents.scout.modle'. Did you mean 'agents.scout.model'?"),
        ({"model": 5}, "agents.scout.model must be text"),
        ({"max_turns": 0}, "`max_turns` must be a positive number, got 0"),
        ({"tools": "all"}, "agents.scout.tools must be a list"),
        ({"enabled": "no"}, "agents.scout.enabled must be true or false"),
        (5, "must be a table"),
    ],
)
def test_wrong_settings_of_an_agent_leave_it_out_and_are_reported(override: object, complaint: str) -> None:
    registry = AgentRegistry(settings=Settings({"agents": {"scout": override, "nobody": {}}}))
    for name in ("scout", "other"):
        registry.register_agent(AgentDefinition(name=name, description="d"))
    registry.replace_files([])
    assert complaint in registry.broken[0].error
    assert "Unknown agent" in registry.broken[1].error
    assert [definition.name for definition in registry.get_all_definitions()] == ["other"]


def test_keys_of_other_programs_are_read(tmp_path: Path) -> None:
    front = (
        "description: d\nkind: local\ntemperature: 0.2\nthinking: low\ntimeout_mins: 1.5\noptions: {top_p: 1}"
    )
    (tmp_path / "a.md").write_text(f"---\n{front}\n---\nDo.")
    registry = AgentRegistry()
    registry.load_folder(tmp_path)
    definition = registry.get_definition("a")
    assert definition.run_config.max_seconds == 90.0
    assert definition.model_config.options == {"temperature": 0.2, "thinking": "low", "top_p": 1}


FILE = "---\nname: scout\ndescription: Looks around.\n---\nYou look around.\n"


def make_file(folder: Path, text: str = FILE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "scout.md"
    path.write_text(text)
    return path


def load(path: Path, record: TrustRecord) -> AgentRegistry:
    registry = AgentRegistry(record)
    registry.load_folder(path.parent)
    return registry


def test_unknown_file_is_reported_with_what_to_do_and_left_out(tmp_path: Path) -> None:
    path = make_file(tmp_path / "agents")
    registry = load(path, TrustRecord([], tmp_path / "record.json"))
    assert registry.get_all_definitions() == ()
    assert registry.broken[0].path == str(path)
    assert "not trusted" in registry.broken[0].error
    assert "dovetail agents trust" in registry.broken[0].error


def test_acknowledged_file_is_used_until_its_content_changes(tmp_path: Path) -> None:
    path = make_file(tmp_path / "agents")
    record = TrustRecord([], tmp_path / "data" / "record.json")
    assert record.acknowledge([path]) == [path]
    later = TrustRecord([], tmp_path / "data" / "record.json")
    assert [definition.name for definition in load(path, later).get_all_definitions()] == ["scout"]
    make_file(path.parent, FILE.replace("look around", "delete everything"))
    assert load(path, later).get_all_definitions() == ()
    assert later.acknowledge([path]) == [path]
    assert later.acknowledge([path]) == []
    assert load(path, later).broken == []


def test_same_content_under_another_path_needs_a_word_of_its_own(tmp_path: Path) -> None:
    record = TrustRecord([], tmp_path / "record.json")
    record.acknowledge([make_file(tmp_path / "one")])
    assert load(make_file(tmp_path / "two"), record).get_all_definitions() == ()


def test_files_of_our_own_folders_need_no_word(tmp_path: Path) -> None:
    path = make_file(tmp_path / "shipped")
    record = TrustRecord([tmp_path / "shipped"], tmp_path / "record.json")
    assert load(path, record).broken == []


def test_unreadable_record_trusts_no_file(tmp_path: Path) -> None:
    path = make_file(tmp_path / "agents")
    (tmp_path / "record.json").write_text("{")
    record = TrustRecord([], tmp_path / "record.json")
    assert "Cannot read the trusted agent files in" in load(path, record).broken[0].error
    with pytest.raises(ConfigError, match=r"record\.json"):
        record.acknowledge([path])


def test_broken_file_whose_name_another_folder_has_is_reported_with_the_agent_that_is_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    near, far = tmp_path / "near", tmp_path / "far"
    for folder, text in ((near, GOOD.replace("max_turns", "max_turn")), (far, GOOD)):
        folder.mkdir()
        (folder / "scout.md").write_text(text)
    AgentRegistry().replace_files([near, far])
    assert f"Using agent 'scout' of {far / 'scout.md'}, with its own limits, instead." in caplog.messages


NARROW = "---\ndescription: Answers.\ntools: [look]\n---\nAnswer.\n"


@pytest.mark.parametrize(
    "text", [NARROW, NARROW.replace("tools", "tool_names"), "---\nname: other\n---\nAnswer.\n"]
)
def test_no_agent_with_more_rights_stands_in_for_a_file_that_is_not_trusted(
    tmp_path: Path, text: str
) -> None:
    near, far = tmp_path / "near", tmp_path / "far"
    for folder, content in ((near, text), (far, NARROW.replace("tools: [look]\n", ""))):
        folder.mkdir()
        (folder / "master.md").write_text(content)
    registry = AgentRegistry(TrustRecord([far], tmp_path / "record.json"), Settings({"agents.master": {}}))
    registry.replace_files([near, far])
    assert registry.get_all_definitions() == ()
    with pytest.raises(ConfigError, match=r"Agent 'master' is not available\. .*not trusted") as caught:
        registry.get_definition("master")
    assert "dovetail agents trust" in str(caught.value)
    assert [broken.path for broken in registry.broken] == [str(near / "master.md")]


def test_trusted_file_takes_its_name_back(tmp_path: Path) -> None:
    near, far = tmp_path / "near", tmp_path / "far"
    for folder in (near, far):
        folder.mkdir()
        (folder / "master.md").write_text(NARROW)
    record = TrustRecord([far], tmp_path / "record.json")
    registry = AgentRegistry(record)
    registry.replace_files([near, far])
    record.acknowledge([near / "master.md"])
    registry.replace_files([near, far])
    assert registry.get_definition("master").source == str(near / "master.md")
    (near / "master.md").unlink()
    registry.replace_files([near, far])
    assert registry.get_definition("master").source == str(far / "master.md")


def test_broken_file_is_logged_once_until_it_changes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "scout.md").write_text("no front matter")
    registry = AgentRegistry()
    for _ in range(2):
        registry.replace_files([tmp_path])
    assert [message.partition(":")[0] for message in caplog.messages] == ["Ignoring agent file"]
    assert len(registry.broken) == 1
    (tmp_path / "scout.md").write_text("---\nname: a\n")
    registry.replace_files([tmp_path])
    assert len(caplog.messages) == 2


def test_agent_whose_mcp_server_is_not_configured_is_left_out_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "scout.md").write_text("---\ndescription: d\nmcp_servers: [note]\n---\nLook.")
    settings = Settings({"mcp": {"servers": {"notes": {"url": "http://127.0.0.1:1/"}}}})
    registry = AgentRegistry(settings=settings)
    [broken] = registry.replace_files([tmp_path]).failed
    assert f"{tmp_path / 'scout.md'}:3: Unknown MCP server 'note'. Did you mean 'notes'?" in broken.error
    settings.set("mcp.servers.note", {"url": "http://127.0.0.1:1/"})
    assert registry.replace_files([tmp_path]).failed == ()
    assert registry.own_servers == {"mcp:note"}
