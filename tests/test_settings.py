"""Settings come in layers and the nearest wins."""

from pathlib import Path

import pytest

from dovetail.errors import ConfigError
from dovetail.settings import DEFAULTS, Settings, as_settings, default_settings, open_settings


def test_nearest_list_wins_and_mappings_merge() -> None:
    settings = Settings(
        {"tools": {"allowed": ["a"]}, "prompt.role_mapping": {"user": "human"}},
        parent=Settings({"tools": {"allowed": ["b"], "excluded": ["c"]}}, parent=default_settings()),
    )
    assert settings["tools.allowed"] == ["a"]
    assert settings["tools.excluded"] == ["c"]
    assert settings["prompt.role_mapping"] == {**DEFAULTS["prompt"]["role_mapping"], "user": "human"}


def test_values_are_not_shown_where_settings_are() -> None:
    settings = Settings({"model": {"api_key": "geheim"}}, parent=Settings({"server": {}}))
    assert repr(settings) == "Settings(server, model)"


def test_list_is_replaced_on_set() -> None:
    settings = Settings({"tools.allowed": ["a"]})
    settings.set("tools.allowed", ["b"])
    assert settings["tools.allowed"] == ["b"]


def test_defaults_are_never_changed() -> None:
    settings = default_settings()
    settings.set("prompt.role_mapping.user", "human")
    settings.append("tools.excluded", "shell")
    assert DEFAULTS["prompt"]["role_mapping"]["user"] == "user"
    assert DEFAULTS["tools"]["excluded"] == []


def test_environment_sets_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", "ollama:small")
    assert default_settings()["model.name"] == "ollama:small"


def test_data_becomes_a_layer_over_the_defaults() -> None:
    settings = as_settings({"response": {"streaming_parse_path_style": "slash"}})
    assert settings["response.streaming_parse_path_style"] == "slash"
    assert settings["runtime.show_tool_logs"] is False
    assert as_settings(settings) is settings


def test_file_stands_between_the_defaults_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dovetail.toml").write_text('[model]\nname = "openai:a"\nbase_url = "http://b"\n')
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:c")
    settings = open_settings({"runtime": {"show_tool_logs": True}}, tmp_path)
    assert (settings["model.name"], settings["model.base_url"]) == ("openai:c", "http://b")
    assert settings["model.stream"] is True
    assert settings["runtime.show_tool_logs"] is True
    given = Settings()
    assert open_settings(given, tmp_path) is given
    assert open_settings(None, tmp_path / "nowhere")["model.base_url"] is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[model\n", "line 1"),
        ("[modle]\nname = 'x'\n", "Unknown setting 'modle'. Did you mean 'model'?"),
        ("model = 'openai:x'\n", "model must be a table, got 'openai:x'."),
    ],
)
def test_file_that_is_wrong_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "dovetail.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"dovetail\.toml") as caught:
        open_settings(None, tmp_path)
    assert complaint in str(caught.value)
