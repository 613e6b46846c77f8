"""What agents take when nothing else is given."""

import gc
import subprocess
import sys
import weakref
from pathlib import Path

from dovetail.agent.runtime import MOST_SHARED, Runtime
from dovetail.settings import Settings, default_settings
from dovetail.testing import ScriptedRequester

MODEL = {"name": "openai:small", "base_url": "http://127.0.0.1:1/v1", "api_key": "none"}


def make_runtime() -> Runtime:
    return Runtime(Settings({"model": MODEL}, parent=default_settings()))


def test_a_requester_of_a_server_is_made_once_for_all_agents_without_own_settings() -> None:
    runtime = make_runtime()
    assert runtime.requester() is runtime.requester()
    assert runtime.requester("openai:large") is not runtime.requester()


def test_a_changed_setting_is_seen_by_the_next_reader() -> None:
    runtime = make_runtime()
    before = runtime.requester()
    runtime.settings.set("model.name", "openai:other")
    assert (before.model, runtime.requester().model) == ("openai:small", "openai:other")


def test_an_agent_with_own_settings_gets_its_own_requester() -> None:
    runtime = make_runtime()
    own = Settings({}, parent=runtime.settings)
    assert runtime.requester(None, own) is not runtime.requester()
    assert runtime.requester(None, own) is not runtime.requester(None, own)


def test_window_of_a_provider_overrides_the_general_one() -> None:
    settings = {"model": {"context_tokens": 8000, "providers": {"own": {"context_tokens": 500}}}}
    runtime = Runtime(Settings(settings, parent=default_settings()))
    assert runtime.window(ScriptedRequester([], model="own:small")) == 500
    assert runtime.window(ScriptedRequester([], model="other:small")) == 8000


def test_a_settings_file_that_an_agent_without_an_app_does_not_read_is_logged(tmp_path: Path) -> None:
    (tmp_path / "dovetail.toml").write_text("")
    script = "import logging; logging.basicConfig(level=20); from dovetail import Agent; Agent(); Agent()"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr.count("does not read dovetail.toml; use Dovetail().create_agent()") == 1


def test_names_that_clients_send_do_not_add_up_and_the_model_in_use_stays() -> None:
    runtime = make_runtime()
    first, used = weakref.ref(runtime.requester("openai:first")), runtime.requester()
    for number in range(MOST_SHARED):
        runtime.requester(f"openai:{number}")
        assert runtime.requester() is used
    gc.collect()
    assert first() is None
