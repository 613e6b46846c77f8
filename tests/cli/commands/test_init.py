"""`dovetail init` writes projects that run at once: their tests pass, their files are sound, they answer."""

import json
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from pydoc import locate
from typing import Any

import httpx
import pytest

from command_line import run
from dovetail.agents.file import load_definition
from dovetail.app import Dovetail
from dovetail.cli.commands.init import find_templates
from dovetail.events.call import Kind
from dovetail.policy import Policy, PolicyCall
from dovetail.testing import ScriptedServer
from patience import PATIENCE

TEMPLATES = ("chat", "api", "research", "support-desk")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.delenv("WORKSPACE_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply of the model that calls one tool."""
    return {"tool_calls": [{"call_id": f"call-{name}", "name": name, "arguments": json.dumps(arguments)}]}


@contextmanager
def serving(project: Path, model: ScriptedServer) -> Generator[httpx.Client]:
    """A client of `dovetail serve`, started in the project as its README says."""
    command = [sys.executable, "-m", "dovetail", "serve", "--port", "0"]
    whole = {**os.environ, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
    with (
        (project.parent / "log.txt").open("w") as log,
        subprocess.Popen(
            command, env=whole, cwd=project, stdout=subprocess.PIPE, stderr=log, text=True
        ) as server,
    ):
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        try:
            headers = {"accept": "application/json"}
            with httpx.Client(base_url=address, headers=headers, timeout=PATIENCE) as client:
                yield client
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(PATIENCE)


def send(client: httpx.Client, message: str, **fields: Any) -> Any:
    return client.post("/api/v1/chat", json={"message": message, **fields}).json()


def start(home: Path, template: str) -> Path:
    assert run("init", "shop", "--template", template) == 0
    return home / "shop"


@pytest.mark.parametrize("template", TEMPLATES)
async def test_a_project_is_sound_and_has_one_of_everything(home: Path, template: str) -> None:
    project = start(home, template)
    async with Dovetail(workspace=project) as app:
        folders = app.extensions.snapshot
        assert (folders.failed_extensions, folders.notices, app.agents.broken) == ((), (), [])
        assert (app.skills.problems, app.prompts.problems, app.runtime.policy.problems) == ([], (), [])
        assert {skill.scope for skill in app.skills.list()} == {"workspace"}
    for part in (
        "AGENTS.md",
        "agents/*.md",
        "prompts/*.yaml",
        "extensions/*/test_*.py",
        "policy.toml",
        "dovetail.toml",
    ):
        assert any(project.glob(part)), part
    assert "my-project" not in "".join(path.read_text() for path in project.rglob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_tests_of_a_project_pass(home: Path, template: str) -> None:
    project = start(home, template)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # as in an environment of its own
    tested = subprocess.run(
        command, cwd=project, env=variables, capture_output=True, text=True, timeout=PATIENCE
    )
    assert tested.returncode == 0, tested.stdout


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_checks_that_a_readme_names_find_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], template: str
) -> None:
    project = start(home, template)
    monkeypatch.chdir(project)
    assert run("agents", "check", *(project / "agents").glob("*.md")) == 0
    assert run("prompt", "check", *(project / "prompts").iterdir()) == 0
    assert run("policy", "check") == 0
    shown = capsys.readouterr()
    assert ("notice" in shown.out, "warning" in shown.out, shown.err) == (False, False, "")


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_commands_of_an_agents_file_work(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], template: str
) -> None:
    monkeypatch.chdir(start(home, template))
    text = Path("AGENTS.md").read_text()
    block = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    first, *lines = [shlex.split(line, comments=True) for line in "".join(block).splitlines()]
    assert first == ["pip", "install", "pytest", "&&", "pytest"]  # run by `test_the_tests_of_a_project_pass`
    for program, *words in lines:
        found = [sorted(map(str, Path().glob(word))) if "*" in word else [word] for word in words]
        assert (program, run(*chain(*found))) == ("dovetail", 0), words
        assert capsys.readouterr().err == ""
    for words in re.findall(r"`dovetail ([^`]+)`", text):
        command = words.replace("COMMAND", "ext").split()
        assert run(*command, *(["--help"] if "--help" not in command else [])) == 0, words
    documented = re.findall(r"`python -m pydoc (dovetail[.\w]*)`", text)
    assert [name for name in documented if locate(name) is None] == []
    assert "dovetail.Agent" in documented
    (code,) = re.findall(r'`python -c "([^"]+)"`', text)
    exec(code)  # it prints the public names
    assert "'Agent'" in capsys.readouterr().out
    assert "](" not in text  # a project has no pages of Dovetail that a link could lead to


@pytest.mark.parametrize("template", TEMPLATES)
def test_an_agents_file_says_what_the_policy_does_with_each_kind(template: str) -> None:
    text = (find_templates()[template].folder / "AGENTS.md").read_text()
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+|none) \| (\w+) \| (\w+) \|$", text, re.MULTILINE)
    said = {
        (kind.strip("`").replace("none", "other"), mode): word
        for kinds, *words in rows
        for kind in kinds.split(", ")
        for mode, word in zip(("default", "auto"), words, strict=True)
    }
    policy, words = Policy(), {"allow": "runs", "ask": "asks"}
    assert said == {
        (kind.value, mode): words[policy.decide(PolicyCall(tool="x", kind=kind, mode=mode)).action]
        for kind in Kind
        for mode in ("default", "auto")
    }
    assert "**A tool without a kind runs unasked.**" in text


def test_the_two_answers_of_the_api_differ_in_the_field_that_its_texts_name() -> None:
    folder = find_templates()["api"].folder
    output = load_definition(folder / "agents" / "triage.md").output_config
    fields = set(runpy.run_path(str(folder / "program.py"))["Ticket"].model_fields)
    assert output is not None
    assert set(output.schema["properties"]) - fields == {"customer"}
    assert "only the\n  agent has `customer`" in (folder / "AGENTS.md").read_text()


@pytest.mark.slow
def test_the_chat_counts_the_stock(home: Path) -> None:
    project = start(home, "chat")
    replies = [call("count_stock", item="chisel"), "There are 3 chisels, which is low."]
    with ScriptedServer(replies) as model, serving(project, model) as client:
        assert send(client, "How many chisels?")["response"] == "There are 3 chisels, which is low."
    assert "assistant of a small workshop" in str(model.requests[0].body)
    assert "chisel: 3 in stock (low)" in str(model.requests[1].body)


@pytest.mark.slow
def test_the_api_returns_typed_answers_to_a_program_and_over_http(home: Path) -> None:
    project = start(home, "api")
    ticket = {"topic": "delivery", "is_urgent": True, "summary": "Order 42 is late."}
    whole = {**ticket, "customer": "Ann Smith"}
    replies = [call("find_customer", number="C-7"), call("complete_task", ticket=whole), json.dumps(ticket)]
    with ScriptedServer(replies) as model, serving(project, model) as client:
        chosen = {"DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
        variables = {**os.environ, **chosen, "DOVETAIL_URL": str(client.base_url).rstrip("/")}
        printed = [
            subprocess.run([sys.executable, file], cwd=project, env=variables, capture_output=True, text=True)
            for file in ("client.py", "program.py")
        ]
    assert json.loads(printed[0].stdout) == whole, printed[0].stderr
    assert printed[1].stdout == "topic='delivery' is_urgent=True summary='Order 42 is late.'\n"
    assert "Ann Smith" in str(model.requests[1].body)


@pytest.mark.slow
def test_the_research_desk_works_in_the_background_and_has_a_schedule(home: Path) -> None:
    project = start(home, "research")
    replies = {
        "You answer questions from": ["The researcher is at work.", call("researcher", question="Which?")],
        "You research questions": ["Dovetails hold without glue.", call("search_library", words="glue")],
    }

    def reply(request: Any) -> Any:
        system = str(request.messages[0])
        return next(texts for opening, texts in replies.items() if opening in system).pop()

    with ScriptedServer([reply] * 4) as model, serving(project, model) as client:
        started = send(client, "Which joint is strongest?", session_id="s")
        assert started["response"] == "The researcher is at work."
        [task] = client.get("/api/v1/sessions/s/children").json()["children"]
        with client.stream("GET", f"/api/v1/runs/{task['run_id']}/events") as events:
            assert "Dovetails hold without glue." in events.read().decode()
        [schedule] = client.get("/api/v1/schedules").json()["schedules"]
    assert (task["agent"], schedule["id"], schedule["agent"]) == ("researcher", "digest.1", "digest")


@pytest.mark.slow
def test_the_support_desk_asks_before_a_refund_and_acts_in_the_browser(home: Path) -> None:
    project = start(home, "support-desk")
    replies = [call("refund", number="A-1001", amount=10, reason="late"), "Refunded."]
    with ScriptedServer(replies) as model, serving(project, model) as client:
        sent = client.post("/api/v1/chat", json={"message": "Refund", "background": True}).json()
        with client.stream("GET", "/api/v1/runs/{run_id}/events".format(**sent)) as events:
            for line in events.iter_lines():
                if "ask-request" in line:
                    [ask] = client.get("/api/v1/asks").json()["asks"]
                    client.post(f"/api/v1/asks/{ask['ask_id']}", json={"approved": True})
        web = client.get("/api/v1/extensions").json()["web"]
        module = client.get(web["desk"][0])
    assert "Refund 10.00 EUR of 48.00 to Ann Smith: late" in str(ask["payload"])
    assert "Refunded 10.00 EUR to Ann Smith (A-1001): late" in str(model.requests[1].body)
    assert 'browserTool("show_order"' in module.text


@pytest.mark.parametrize(
    ("template", "results"),
    [
        ("chat", [(0, "chisel: 3 in stock (low)")]),
        ("research", [(0, "finger-joint")]),
        ("support-desk", [(0, "Ann Smith"), (1, "'refund' requires approval")]),
    ],
)
def test_the_calls_of_a_readme_work_as_it_says(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    template: str,
    results: list[tuple[int, str]],
) -> None:
    monkeypatch.chdir(start(home, template))
    calls = [line for line in find_templates()[template].commands if line.startswith("dovetail tools call")]
    for line, (code, text) in zip(calls, results, strict=True):
        capsys.readouterr()
        assert run(*shlex.split(line, comments=True)[1:]) == code
        shown = capsys.readouterr()
        assert text in shown.out + shown.err


def test_templates_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("init", "--list") == 0
    assert capsys.readouterr().out.startswith("chat          A chat service with one tool")
    assert run("init", "--list", "--json") == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == list(TEMPLATES)
    assert run("init", "--template", "chats") == 1
    assert "Unknown template 'chats'. Did you mean 'chat'?" in capsys.readouterr().err


def test_the_next_commands_are_those_of_the_readme(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("init", "my shop", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["folder"] == str(home / "my shop")
    assert "extensions/stock/extension.py" in report["files"]
    assert report["next"][0] == "cd 'my shop'"
    readme = (home / "my shop" / "README.md").read_text()
    assert readme.startswith("# my shop\n")
    assert all(command in readme for command in report["next"][1:])


def test_existing_files_are_kept_unless_they_may_be_overwritten(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "README.md").write_text("mine")
    (home / "notes.txt").write_text("mine")
    assert run("init") == 1
    shown = capsys.readouterr().err
    assert f"{home} already has README.md." in shown
    assert "--force" in shown
    assert sorted(path.name for path in home.iterdir()) == ["README.md", "notes.txt"]
    assert run("init", "--force") == 0
    assert (home / "README.md").read_text() != "mine"
    assert (home / "notes.txt").read_text() == "mine"
    assert "cd " not in capsys.readouterr().out
    assert run("init", "notes.txt") == 1
    assert "Cannot write" in capsys.readouterr().err
