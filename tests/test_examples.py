"""Every program in examples/ runs against a scripted model and prints what it is there to show."""

import io
import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from dovetail import app
from dovetail.agent import runtime
from dovetail.testing import Reply, ScriptedServer

EXAMPLES = Path(__file__).parent.parent / "examples"

SCRIPTS: dict[str, tuple[list[Any], list[str]]] = {
    "tool.py": (
        [
            '{"use_tool": true, "tool_command": {"purpose": "count", "tool_name": "count_stock", '
            '"tool_kwargs": {"wood": "oak"}}}',
            {"when": "12", "text": "There are 12 boards."},
        ],
        ["There are 12 boards."],
    ),
    "two_agents.py": (
        [
            {"when": "The table is red", "text": '{"value": "Der Tisch ist rot."}'},
            {
                "when": "Translate into French",
                "text": '{"use_tool": true, "tool_command": {"purpose": "French", "tool_name": "translate", '
                '"tool_kwargs": {"text": "The house is green.", "language": "French"}}}',
            },
            {"when": "language: French", "text": '{"value": "La maison est verte."}'},
            {"when": "La maison", "text": "They say: La maison est verte."},
        ],
        ["Der Tisch ist rot.", "They say: La maison est verte."],
    ),
    "chat_memory.py": (
        [
            "Hello, Ann.",
            lambda request: f"You are {'Ann' if 'I am Ann.' in str(request.messages) else 'new'}.",
        ],
        ["> Hello, Ann.\n> You are Ann.\n> "],
    ),
    "many_questions.py": (
        [
            {"when": "Two screws", "text": '{"value": "unhappy"}'},
            {"when": "drawer", "text": '{"value": "happy"}', "delay": 0.05},
            {"when": "buy it again", "text": '{"value": "happy"}'},
        ],
        ["happy: The drawer", "unhappy: Two screws", "happy: A good table"],
    ),
    "yaml_prompt.py": (
        [
            {
                "when": "Advertise an oak stool.",
                "text": '{"headline": "Sit well", "text": "For young families. It lasts."}',
            }
        ],
        ["Sit well\nFor young families. It lasts."],
    ),
    "approval.py": (
        [
            {"tool_calls": [{"name": "order_boards", "arguments": {"wood": "oak", "count": 12}}]},
            {"when": "Ordered 12", "text": "They are ordered."},
        ],
        [
            "The agent wants to call order_boards with {'wood': 'oak', 'count': 12}.",
            "They are ordered.\nOrders: 12 x oak",
        ],
    ),
    "mcp_server.py": (
        [
            '{"use_tool": true, "tool_command": {"purpose": "price", "tool_name": "find_price", '
            '"tool_kwargs": {"wood": "Oak"}}}',
            {"when": "48 euros", "text": "It is 48 euros."},
        ],
        ["It is 48 euros."],
    ),
    "spend_limit.py": (
        [
            {"tool_calls": [{"name": "find_price", "arguments": '{"wood": "oak"}'}]},
            {"tool_calls": [{"name": "find_price", "arguments": '{"wood": "pine"}'}]},
            "Pine, as far as I know.",
        ],
        [
            "Pine, as far as I know.",
            "max-calls: The limit of 3 requests to models of this run is reached.",
            "max-calls: The limit of 3 requests to models of agent",
        ],
    ),
    "background.py": (
        [
            {
                "when": "Have the researcher",
                "tool_calls": [
                    {"name": "researcher", "arguments": '{"question": "How old do oaks become?"}'}
                ],
            },
            {"when": "How old do oaks become?", "text": "A thousand years.", "delay": 0.5},
            {"when": "works in the background", "text": "It has begun."},
            {"when": "A thousand years.", "text": "A thousand years, it says."},
        ],
        ["It has begun.", "researcher ended: goal", "A thousand years, it says."],
    ),
    "agent_extension.py": (["Friday."], ["Friday."]),
    "event_encoder.py": (["Oak."], ['"text": "Oak."}', '"end": "goal"}']),
    "first_field.py": (
        [Reply(text=json.dumps({"materials": ["boards", "glue"], "instructions": "Cut, then glue."}), cut=4)],
        ["-> boards", "-> glue", "Cut, then glue.", "[ordered: glue]"],
    ),
    "policy_rule.py": (
        [],
        [
            "notes/today.txt: ok",
            "asked: write_file notes/../report.txt",
            "report.txt: ok, 11 characters",
            "notes/key.txt: denied, Error: 'write_file' is not allowed: rule 'no secrets'",
        ],
    ),
    "requester.py": (["Spruce."], ["Spruce.\nSpruce.\nSpruce.\nasked 1 time(s)"]),
    "tool_maker.py": ([], ["['read_plan']", "ok 'cut\\nglue'"]),
    "typed_answer.py": (
        [
            json.dumps(
                {
                    "customer": "Ann Smith",
                    "lines": [{"item": "boards", "amount": 48}, {"item": "glue", "amount": 6.5}],
                }
            )
        ],
        ["Ann Smith: 54.50 euros"],
    ),
}
"""By file: what the model says, and lines that must be printed."""

TYPED = {"approval.py": "y\n", "chat_memory.py": "I am Ann.\nWho am I?\n\n"}
"""By file: what a person types."""


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_example_runs_and_shows_what_it_is_for(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replies, lines = SCRIPTS[path.name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(TYPED.get(path.name, "")))
    monkeypatch.setattr(runtime, "_default", None)
    monkeypatch.setattr(app, "_default", None)
    with ScriptedServer(replies) as server:
        monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
        monkeypatch.setenv("DOVETAIL_API_KEY", "none")
        monkeypatch.setenv("DOVETAIL_BASE_URL", server.url)
        runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    for line in lines:
        assert line in printed
    assert server.script.unused == []


def test_readme_lists_every_example_once() -> None:
    listed = re.findall(r"\[(\w+\.py)\]\(\1\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(path.name for path in EXAMPLES.glob("*.py"))
