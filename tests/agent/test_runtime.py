"""What agents take when nothing else is given."""

from dovetail.agent.runtime import Runtime
from dovetail.settings import Settings, default_settings

MODEL = {"name": "openai:small", "base_url": "http://127.0.0.1:1/v1", "api_key": "none"}


def make_runtime() -> Runtime:
    return Runtime(Settings({"model": MODEL}, parent=default_settings()))


def test_a_requester_of_a_server_is_made_once_for_all_who_have_no_settings_of_their_own() -> None:
    runtime = make_runtime()
    assert runtime.requester() is runtime.requester()
    assert runtime.requester("openai:large") is not runtime.requester()


def test_a_changed_setting_is_seen_by_the_next_who_asks() -> None:
    runtime = make_runtime()
    before = runtime.requester()
    runtime.settings.set("model.name", "openai:other")
    assert (before.model, runtime.requester().model) == ("openai:small", "openai:other")


def test_who_has_settings_of_their_own_gets_a_requester_of_their_own() -> None:
    runtime = make_runtime()
    own = Settings({}, parent=runtime.settings)
    assert runtime.requester(None, own) is not runtime.requester()
    assert runtime.requester(None, own) is not runtime.requester(None, own)
