"""Every setting is described, and the page of the docs says what the sections say."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from dovetail.agents.definition import RunConfig
from dovetail.settings import open_settings, read_settings_file
from dovetail.settings.agents import AgentSettings
from dovetail.settings.describe import find_source, list_settings, list_values, write_page
from dovetail.settings.environment import ENVIRONMENT, FURTHER_VARIABLES
from dovetail.settings.section import find_hint, keys_of
from dovetail.settings.sections import AllSettings, McpServerSettings
from dovetail.tools.mcp.server import McpServer

ROOT = Path(__file__).parent.parent.parent


def test_page_of_the_docs_is_up_to_date() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == write_page(), "run `make settings-page`"


def test_every_setting_has_a_description() -> None:
    assert [row.key for row in list_settings() if not row.description] == []
    sections = {key.section for key in keys_of(AllSettings).values() if key.section is not None}
    assert all(section.__doc__ for section in sections)


def test_tables_of_agents_and_servers_have_the_keys_that_are_read() -> None:
    limits = [field.name for field in fields(RunConfig)]
    assert list(keys_of(AgentSettings)) == ["enabled", "model", "options", "tools", *limits]
    read = {field.name for field in fields(McpServer)}
    assert read - keys_of(McpServerSettings).keys() == {"name", "target"}


def test_value_is_shown_with_its_source_and_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "dovetail.toml"
    file.write_text(
        """
[model]
base_url = "http://127.0.0.1:1/v1"
[model.providers.mine]
base_url = "http://127.0.0.1:2/v1"
api_key = "geheim"
headers = { x-team = "geheim" }
[mcp.servers.shed]
command = "shed"
env = { SHED = "geheim" }
[extensions.weather]
api_key = "geheim"
"""
    )
    monkeypatch.setenv("DOVETAIL_API_KEY", "geheim")
    settings = open_settings({"tools": {"max_rounds": 2}}, tmp_path)
    values = list_values(settings)
    assert "geheim" not in str(values)
    assert values["mcp.servers.shed.command"] == "shed"
    sources = {key: find_source(key, settings, read_settings_file(file)) for key in values}
    assert sources["model.base_url"] == sources["model.providers.mine.api_key"] == "dovetail.toml"
    assert sources["model.api_key"] == "DOVETAIL_API_KEY"
    assert (sources["tools.max_rounds"], sources["tools.strategy"]) == ("code", "default")


def test_every_key_that_the_source_reads_by_name_is_a_setting() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    read = {key for text in sources for key in re.findall(r'settings\.get\("([a-z_]+\.[a-z_.]+)"', text)}
    assert read
    for key in read:
        assert find_hint(AllSettings, key) is not None


def test_every_variable_of_ours_that_the_source_names_is_described() -> None:
    paths = [*(ROOT / "src").rglob("*.py"), *(ROOT / "extensions").rglob("*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    named = set(re.findall(r"\bDOVETAIL_[A-Z_]*[A-Z]\b", text))
    internal = {"DOVETAIL_SHELL_CALL"}  # marks the processes that a tool started
    assert named - ENVIRONMENT.keys() - FURTHER_VARIABLES.keys() == internal
