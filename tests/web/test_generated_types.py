"""The web client's types of events are those of the Python events; it translates rules, errors and tools."""

import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.agents.dispatcher import make_dispatcher
from dovetail.agents.task_tool import task_tool
from dovetail.app import Dovetail
from dovetail.data.text import INTERNAL_ERROR, report_error
from dovetail.errors import DovetailError
from dovetail.loop.completion import make_completion_tool
from dovetail.policy.policy import BUILT_IN_RULES
from dovetail.server.errors import RUN_STATUSES, AccessError
from dovetail.skills.injection import make_load_skill
from dovetail.tools.makers.browser import open_url

WEB = Path(__file__).parents[2] / "web"
SCRIPT = WEB / "scripts" / "generate_events.py"
HOMES = ("dovetail.errors", "dovetail.server.errors")
WITHOUT_A_CLASS = ("http_error", "method_not_allowed", "not_found", "rate_limited", "too_large")


def test_generated_event_types_are_fresh() -> None:
    made = runpy.run_path(str(SCRIPT))
    assert made["TARGET"].read_text("utf-8") == made["generate"](), (
        "the events have changed: run `python web/scripts/generate_events.py`"
    )


def test_an_annotation_that_is_not_known_is_named() -> None:
    write_type = runpy.run_path(str(SCRIPT))["write_type"]
    assert write_type(tuple[str, ...]) == "string[]"
    assert write_type(float | None) == "number | null"
    with pytest.raises(TypeError, match=r"set\[int\]"):
        write_type(set[int])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_reason_for_which_a_built_in_rule_asks_is_translated(language: str) -> None:
    text = (WEB / "src" / "text" / language / "approvals.ts").read_text("utf-8")
    reasons = [rule.reason for rule in BUILT_IN_RULES if rule.action == "ask"]
    assert reasons
    assert [reason for reason in reasons if f'"{reason}": ' not in text] == []


async def test_the_title_of_every_shipped_tool_and_agent_is_translated() -> None:
    text = (WEB / "src" / "text" / "zh" / "work.ts").read_text("utf-8")
    async with Dovetail(workspace=WEB.parent) as app:
        shipped = list(await app.get_tool_registry().discover_all_tools())
        agents = [each.display_name or each.name for each in app.agents.get_all_definitions()]
        made = [open_url, task_tool, make_load_skill(app.skills), make_dispatcher([])]
        made.append(make_completion_tool())
    titles = {*agents, *(_make_readable(tool.title) for tool in (*shipped, *made))}
    assert {"Calculate", "Run shell command", "Open page", "Assistant"} <= titles
    assert sorted(title for title in titles if not re.search(f'^    "?{title}"?: ', text, re.M)) == []


def _make_readable(name: str) -> str:
    """Return a name as the page shows it (`readableName`)."""
    words = re.sub("[_-]", " ", name) if re.fullmatch("[a-z0-9]+([_-][a-z0-9]+)*", name) else name
    return words[0].upper() + words[1:]


def test_every_error_code_of_the_server_is_translated() -> None:
    text = (WEB / "src" / "text" / "zh" / "page.ts").read_text("utf-8")
    own = [each for each in _list_subclasses(DovetailError) if each.__module__ in HOMES]
    assert AccessError in own
    codes = {*map(_find_code, own), INTERNAL_ERROR["type"], *RUN_STATUSES, *WITHOUT_A_CLASS}
    assert sorted(code for code in codes if f"    {code}: " not in text) == []


def _find_code(kind: type[DovetailError]) -> str:
    error = kind.__new__(kind)
    DovetailError.__init__(error, "")
    return report_error(error)["type"]


def _list_subclasses(of: type[DovetailError]) -> Iterator[type[DovetailError]]:
    for each in of.__subclasses__():
        yield each
        yield from _list_subclasses(each)
