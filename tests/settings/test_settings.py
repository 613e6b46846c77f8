"""Settings come in layers and the nearest wins."""

from pathlib import Path
from typing import Any

import pytest

from dovetail import Agent, Dovetail, set_settings
from dovetail.agent.runtime import Runtime
from dovetail.data.secrets import SecretMask
from dovetail.errors import ConfigError
from dovetail.settings import DEFAULTS, Settings, as_settings, default_settings, open_settings
from dovetail.settings.sections import ServerSettings, ToolSettings
from dovetail.testing import ScriptedServer


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


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("server.rate_limt", 5, "Unknown setting 'server.rate_limt'. Did you mean 'server.rate_limit'?"),
        ("server", {"rate_limt": 5}, "Unknown setting 'server.rate_limt'. Did you mean 'server.rate_limit'?"),
        ("modle.name", "x", "Unknown setting 'modle'. Did you mean 'model'?"),
        (
            "model.providers.mine.base_ulr",
            "x",
            "Unknown setting 'model.providers.mine.base_ulr'. Did you mean 'model.providers.mine.base_url'?",
        ),
        (
            "model.providers",
            {"mine": {"timeouts": {"idel": 1}}},
            "Unknown setting 'model.providers.mine.timeouts.idel'. "
            "Did you mean 'model.providers.mine.timeouts.idle'?",
        ),
        ("bus.colour", 1, "Unknown setting 'bus.colour'. Expected one of: enabled."),
        ("extensions.import_limt", 1, "Did you mean 'extensions.import_limit'?"),
        ("server", 5, "server must be a table, got 5."),
        ("OpenAICompatible", {"base_url": "http://127.0.0.1"}, "Write Agent(model='openai:…')"),
        ("AnthropicCompatible", {"model": "claude"}, "Write Agent(model='provider:name')"),
        ("openai", {"api_key": "k"}, "Write Agent(model='openai:…')"),
        ("plugins.ModelRequester.OpenAICompatible.base_url", "x", "set_settings('model.base_url', …)"),
        ("session.max", 3, "Unknown setting 'session'. Did you mean 'chat_session'?"),
        ("orders", {"limit": 3}, "Unknown setting 'orders'. Expected one of: model, server,"),
        ("debug", True, "Write set_settings('runtime.show_tool_logs', True)"),
        ("storage.db_url", "sqlite://", "Write Dovetail(settings={'store': {'url': …}})"),
    ],
)
def test_misspelt_key_is_refused_wherever_it_is_set(key: str, value: Any, complaint: str) -> None:
    settings = default_settings()
    before = settings.version
    agent = Agent(runtime=Runtime(default_settings()))
    for write in (settings.set, settings.replace, settings.append, settings.__setitem__, agent.set_settings):
        with pytest.raises(ConfigError) as caught:
            write(key, value)
        assert complaint in str(caught.value)
    with pytest.raises(ConfigError):
        Dovetail({key: value})
    with pytest.raises(ConfigError):
        Agent(settings={key: value})
    with pytest.raises(ConfigError):
        set_settings(key, value)
    assert settings.version == before


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("response.max_retries", "many", "response.max_retries must be a whole number"),
        ("response", {"max_retries": -1}, "response.max_retries must be a whole number that is not negative"),
        ("tools.strategy", "nativ", "Unknown tools.strategy 'nativ'. Expected one of: judge, native, auto."),
        ("tools.excluded", "shell", "tools.excluded must be a list of tool names"),
        ("model.providers", {"mine": {"base_url": 5}}, "model.providers.mine.base_url must be text"),
        ("model.api_key", 12345, "model.api_key must be text, got int."),
    ],
)
def test_value_of_a_wrong_type_is_refused_where_it_is_set(key: str, value: Any, complaint: str) -> None:
    settings = default_settings()
    agent = Agent(runtime=Runtime(default_settings()))
    for write in (settings.set, settings.replace, settings.__setitem__, agent.set_settings):
        with pytest.raises(ConfigError) as caught:
            write(key, value)
        assert complaint in str(caught.value)
    settings.set(key, None)


def test_value_that_the_environment_fills_may_be_set_before_it_exists() -> None:
    settings = default_settings()
    settings.set("model.api_key", "${NO_SUCH_VARIABLE}")
    settings.append("tools.excluded", "shell")


def test_names_below_folders_options_and_the_notes_of_a_request_are_free() -> None:
    settings = default_settings()
    settings.set("extensions.weather", {"city": "Ulm"})
    settings.set("model.options.temperature", 0)
    settings.set("request.orders", {"limit": 3})
    assert settings["request.orders.limit"] == 3


def test_file_with_a_wrong_key_or_value_is_named(tmp_path: Path) -> None:
    file = tmp_path / "dovetail.toml"
    for text, complaint in (
        (
            "[server]\nrate_limt = 5\n",
            "Unknown setting 'server.rate_limt'. Did you mean 'server.rate_limit'?",
        ),
        ("[server]\nrate_limit = 'many'\n", "server.rate_limit must be a whole number"),
        ("[orders]\nlimit = 5\n", "Unknown setting 'orders'"),
    ):
        file.write_text(text)
        with pytest.raises(ConfigError) as caught:
            Dovetail(workspace=tmp_path)
        assert str(caught.value).startswith(f"{file}: ")
        assert complaint in str(caught.value)


def test_variable_of_a_table_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL_OPTIONS", '{"seed": 7}')
    assert default_settings()["model.options"] == {"seed": 7}
    for wrong in ("seed=7", "[7]"):
        monkeypatch.setenv("DOVETAIL_MODEL_OPTIONS", wrong)
        with pytest.raises(ConfigError, match=r"DOVETAIL_MODEL_OPTIONS \(model\.options\) must be a table"):
            default_settings()


def test_misspelt_variable_is_refused_and_a_foreign_one_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_TEAM", "blue")
    monkeypatch.setenv("DOVETAIL_URL", "http://127.0.0.1")
    assert default_settings()["server.rate_limit"] == 600
    monkeypatch.setenv("DOVETAIL_RATE_LIMT", "5")
    with pytest.raises(ConfigError, match=r"'DOVETAIL_RATE_LIMT'\. Did you mean 'DOVETAIL_RATE_LIMIT'\?"):
        default_settings()


def test_variable_without_effect_is_named_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DOVETAIL_LIMITS_TURNS", "5")
    monkeypatch.setenv("DOVETAIL_CHISELS", "5")
    monkeypatch.setenv("DOVETAIL_SHELL_CALL", "5")
    for _ in range(2):
        default_settings()
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 2
    assert "'DOVETAIL_LIMITS_TURNS' has no effect" in caplog.text
    assert "Write `turns = …` in the table [limits] of dovetail.toml." in caplog.text


def test_value_of_a_variable_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_LOG_FORMAT", "xml")
    with pytest.raises(ConfigError, match=r"Unknown DOVETAIL_LOG_FORMAT \(server\.log_format\) 'xml'"):
        default_settings()
    monkeypatch.setenv("DOVETAIL_LOG_FORMAT", "json")
    monkeypatch.setenv("DOVETAIL_CORS_ORIGINS", "https://a.example, https://b.example")
    section = default_settings().section(ServerSettings)
    assert (section.log_format, section.cors_origins) == ("json", ["https://a.example", "https://b.example"])


def test_variables_in_keys_headers_and_addresses_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOUSE_KEY", "geheim-geheim")
    with ScriptedServer(["Hi.", "Hi."]) as server:
        monkeypatch.setenv("HOUSE_URL", server.url)
        (tmp_path / "dovetail.toml").write_text(
            '[model]\nname = "house:llama"\n[model.providers.house]\nbase_url = "${HOUSE_URL}"\n'
            'api_key = "${HOUSE_KEY}"\nheaders = { X-Team = "a ${HOUSE_KEY}" }\n'
        )
        settings = open_settings(None, tmp_path)
        Agent(settings=settings).input("Hello").start()
        in_code = {"base_url": "${HOUSE_URL}", "api_key": "${HOUSE_KEY}"}
        Agent(model="house:llama", settings={"model": {"providers": {"house": in_code}}}).input("x").start()
    assert [each.headers["authorization"] for each in server.requests] == ["Bearer geheim-geheim"] * 2
    assert server.requests[0].headers["x-team"] == "a geheim-geheim"
    assert SecretMask.of(settings).apply("It is geheim-geheim.") == "It is ***."


def test_variable_that_is_not_set_is_reported_with_the_key_that_uses_it(tmp_path: Path) -> None:
    (tmp_path / "dovetail.toml").write_text('[model.providers.house]\napi_key = "${NO_SUCH_VARIABLE}"\n')
    text = "NO_SUCH_VARIABLE is not set, but the setting 'model.providers.house.api_key' uses it"
    with pytest.raises(ConfigError, match=text):
        open_settings(None, tmp_path)


def test_section_is_computed_again_only_when_a_layer_changes() -> None:
    parent = default_settings()
    layer = Settings({"runtime": {"show_tool_logs": True}}, parent=parent)
    assert layer.section(ToolSettings) is parent.section(ToolSettings)
    parent.set("tools.max_rounds", 2)
    layer.set("tools.strategy", "native")
    assert (layer.section(ToolSettings).max_rounds, layer.section(ToolSettings).strategy) == (2, "native")
    assert layer.section(ToolSettings) is layer.section(ToolSettings)
