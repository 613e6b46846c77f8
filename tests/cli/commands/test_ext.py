"""`dovetail ext` lists, checks and writes extension folders, and has a server reload."""

import json
import re
import runpy
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from command_line import run
from dovetail.assets import find_assets
from dovetail.extensions.scaffold import create_folder
from patience import PATIENCE


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace, which is the current folder."""
    monkeypatch.delenv("WORKSPACE_ROOT", raising=False)
    monkeypatch.delenv("EXTENSION_EXCLUDED_EXTENSIONS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_extension(workspace: Path, name: str, source: str) -> Path:
    folder = workspace / "extensions" / name
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text(source)
    return folder


def test_a_new_folder_is_sound_and_its_test_passes(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ext", "new", "hello") == 0
    assert run("ext", "check", "hello") == 0
    assert "ok     hello: hello" in capsys.readouterr().out
    written = runpy.run_path(str(workspace / "extensions" / "hello" / "test_hello.py"))
    written["test_it_greets"]()
    source = workspace / "extensions" / "hello" / "extension.py"
    source.write_text(source.read_text().replace("def hello", "def greet"))
    written["test_it_greets"]()  # another name does not break it
    source.write_text(source.read_text().replace("Hello, ", "Goodbye, "))
    with pytest.raises(AssertionError):
        written["test_it_greets"]()


def test_a_folder_cannot_have_a_word_of_python_as_its_name(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ext", "new", "class") == 1
    assert "Use, for example, my_class." in capsys.readouterr().err
    assert not (workspace / "extensions" / "class").exists()


def test_a_new_folder_says_where_the_assistant_lists_its_tools(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ext", "new", "hello") == 0
    assert "lists its tools" not in capsys.readouterr().out
    (workspace / "agents").mkdir()
    (workspace / "agents" / "master.md").write_text(
        "---\ndescription: d\ntools: [hello, pay_*]\ntool: false\n---\nHi.\n"
    )
    assert run("ext", "new", "pay_bill") == 0
    assert "lists its tools" not in capsys.readouterr().out
    assert run("ext", "new", "orders") == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "agents/master.md lists its tools: add `orders` to `tools:` so that the assistant uses it."
    )


def test_a_new_folder_may_have_a_card_with_the_types_for_an_editor(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ext", "new", "hello", "--web") == 0
    assert run("ext", "check", "hello") == 0
    assert "ok     hello: hello; for the page: card.js" in capsys.readouterr().out
    web = workspace / "extensions" / "hello" / "web"
    assert 'card("hello", ' in (web / "card.js").read_text()
    page = find_assets("web")
    types = page is not None and (page / "dovetail.d.ts").is_file()  # the page may not be built
    assert (web / "dovetail.d.ts").is_file() == types


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("Two Words", "lower-case letters"),
        ("../up", "lower"),
        ("hello", "already"),
        ("example", "Folder 'example' would not be loaded: by default"),
        ("calculate", "Tool 'calculate' already exists in extension:calculator"),
        ("shell", "Extension folder 'shell' already exists"),
        ("load_skill", "Tool name 'load_skill' already belongs to the tool that loads skills"),
        ("summarizer", "Tool name 'summarizer' already belongs to agent 'summarizer'"),
    ],
)
def test_a_new_folder_is_refused(
    workspace: Path, capsys: pytest.CaptureFixture[str], name: str, complaint: str
) -> None:
    write_extension(workspace, "hello", "")
    assert run("ext", "new", name) == 1
    assert complaint in capsys.readouterr().err


def test_the_list_shows_own_and_shipped_folders(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("ext", "new", "hello")
    write_extension(workspace, "broken", "TOOL = (")
    capsys.readouterr()
    assert run("ext", "list") == 0
    shown = capsys.readouterr()
    for word in ("hello", "calculator", "left out example", "broken broken: SyntaxError", "extension.py:1"):
        assert word in shown.out
    assert shown.err == ""
    assert run("ext", "list", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["failed_extensions"][0]["extension"] == "broken"
    assert "hello" in report["tools"]


@pytest.mark.usefixtures("workspace")
def test_the_list_says_why_a_folder_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXTENSION_EXCLUDED_EXTENSIONS", "Shell")
    assert run("ext", "list") == 0
    shown = capsys.readouterr().out
    assert "left out shell: EXTENSION_EXCLUDED_EXTENSIONS names it" in shown
    assert "left out example: by default; set EXTENSION_EXCLUDED_EXTENSIONS= (empty)" in shown


def test_a_check_explains_every_folder_and_fails(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_extension(workspace, "broken", "TOOL = {'name': 'x'}")
    write_extension(workspace, "chatty", "print('[hi]')\nTOOL = {}")
    assert run("ext", "check") == 1
    shown = capsys.readouterr().out
    assert "broken broken: tool 'x': missing label, description, parameters, execute" in shown
    assert "ok     weather: get_weather" in shown


def test_a_check_reports_agents_and_skills_of_a_folder_that_cannot_be_used(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ext", "new", "hello") == 0
    folder = workspace / "extensions" / "hello"
    (folder / "agents").mkdir()
    (folder / "agents" / "guide.md").write_text("---\nname: [1]\n---\nHelp.\n")
    (folder / "skills" / "greet").mkdir(parents=True)
    (folder / "skills" / "greet" / "SKILL.md").write_text("---\nname: two words\n---\nSay it.\n")
    for names in ([], ["hello"]):
        assert run("ext", "check", *names) == 0
        shown = capsys.readouterr().out
        assert re.search("notice hello: left out: .*guide.md", shown)
        assert re.search("notice hello: left out: .*SKILL.md: name must be one word", shown)


def test_a_check_by_name_or_path_is_of_that_folder_only(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_extension(workspace, "broken", "TOOL = (")
    assert run("ext", "check", "example", "extensions/broken") == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "ok     example: add, multiply, highlight; for the page: highlight.js"
    assert shown[1].startswith("broken broken: SyntaxError")
    assert run("ext", "check", "weather") == 0


def test_a_check_sees_a_clash_with_another_folder(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create_folder(workspace / "extensions", "get_weather")
    run("ext", "check", "weather")
    assert "Tool name 'get_weather' already belongs to extension:get_weather" in capsys.readouterr().out


def test_a_folder_that_is_none_is_explained(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "plain").mkdir()
    assert run("ext", "check", "plain") == 1
    assert run("ext", "check", "nowhere") == 1
    shown = capsys.readouterr().err
    assert "plain has no extension.py" in shown
    assert "Unknown extension folder 'nowhere'" in shown


@pytest.fixture
def server() -> Iterator[str]:
    """A server that wants a token and answers a reload."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            token, key = (self.headers.get(name) for name in ("x-admin-token", "authorization"))
            good = (token == "right" or key == "Bearer mine") and self.path == "/api/v1/extensions/reload"
            body = b'{"version": 7, "failed_extensions": []}' if good else b'{"error": {"message": "no"}}'
            self.send_response(200 if good else 403)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join(PATIENCE)


def test_a_reload_brings_the_token_and_shows_the_report(
    server: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXTENSIONS_ADMIN_TOKEN", "right")
    assert run("ext", "reload", "--url", server) == 0
    assert json.loads(capsys.readouterr().out)["version"] == 7
    assert run("ext", "reload", "--url", server, "--token", "wrong", "--key", "mine") == 0
    assert json.loads(capsys.readouterr().out)["version"] == 7
    assert run("ext", "reload", "--url", server, "--token", "密码") == 1
    assert "The server responded with HTTP 403" in capsys.readouterr().err
    assert run("ext", "reload", "--url", server, "--token", "wrong") == 1
    assert "The server responded with HTTP 403" in capsys.readouterr().err
    assert run("ext", "reload", "--url", "http://127.0.0.1:9") == 1
    assert "dovetail serve" in capsys.readouterr().err
    assert run("ext", "reload", "--url", "file:///etc/passwd") == 1


def test_a_check_passes_a_folder_its_settings(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "dovetail.toml").write_text('[extensions.shop]\ncurrency = "CHF"\n')
    source = "def setup(context): context.settings['currency']\n"
    source += "TOOL = dict(label='s', name='price', description='d', parameters={}, execute=lambda: 1)\n"
    write_extension(workspace, "shop", source)
    assert run("ext", "check", "shop") == 0
    assert "ok     shop: price" in capsys.readouterr().out


def test_a_folder_is_shown_with_its_settings(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_EXTENSIONS_SHOP_TOKEN", "geheim")
    (workspace / "dovetail.toml").write_text('[extensions.shop]\ncurrency = "CHF"\n')
    source = "from dovetail import tool\nSETTINGS = {'currency': {'description': 'Of prices'}, 'token': {}}\n"
    folder = write_extension(workspace, "shop", f"{source}@tool\ndef price() -> int:\n    'Cost.'\n")
    (folder / "policy.toml").write_text('[[rule]]\ntool = "price"\naction = "ask"\n')
    assert run("ext", "show", "shop") == 0
    shown = capsys.readouterr().out
    assert f"folder  {folder}" in shown
    assert "brings  price" in shown
    assert "rules   policy.toml" in shown
    assert 'extensions.shop.currency = "CHF"  (dovetail.toml)\n    string or null. Of prices' in shown
    assert "extensions.shop.token = ***  (DOVETAIL_EXTENSIONS_SHOP_TOKEN)" in shown
    assert run("ext", "show", "shop", "--json") == 0
    data = json.loads(text := capsys.readouterr().out)
    assert (data["tools"], data["folders"]) == (["price"], [str(folder)])
    assert {row["key"]: row["value"] for row in data["settings"]}["extensions.shop.currency"] == '"CHF"'
    assert "geheim" not in shown + text
    (workspace / "dovetail.toml").write_text("[extensions.shop]\ncurrncy = 1\n")
    assert run("ext", "show", "shop") == 1
    assert "Did you mean 'extensions.shop.currency'?" in capsys.readouterr().out
    assert run("ext", "check", "shop", "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert [each["extension"] for each in report["failed_extensions"]] == ["shop"]


def test_settings_of_a_folder_that_does_not_exist_are_noticed(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "dovetail.toml").write_text("[extensions.wether]\na = 1\n[extensions.example]\nb = 1\n")
    assert run("ext", "check") == 0
    notices = [line for line in capsys.readouterr().out.splitlines() if line.startswith("notice")]
    assert notices == [
        "notice wether: [extensions.wether] is not used: Unknown folder 'wether'. Did you mean 'weather'?"
    ]
