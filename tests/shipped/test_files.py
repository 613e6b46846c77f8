"""The `files` folder reads and writes in the workspace and nowhere else."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dovetail.data.known_secrets import protect
from dovetail.events.call import Kind
from dovetail.extensions import ExtensionSnapshot
from dovetail.policy.file import PolicyFiles
from dovetail.policy.policy import Policy
from dovetail.policy.rule import PolicyCall
from dovetail.tools import ToolContext
from dovetail.tools.preview import make_preview
from extension_folders import ask, call_tool

TOOLS = ("read_file", "list_files", "search_files", "write_file")


def plant_links(workspace: Path) -> None:
    """Links that lead out of the workspace."""
    (workspace / "link.txt").symlink_to(workspace.parent / "secret.txt")
    (workspace / "out").symlink_to(workspace.parent)


@pytest.mark.parametrize(
    "path", ["../secret.txt", "link.txt", "out/secret.txt", "{parent}/secret.txt", "a/../../x"]
)
@pytest.mark.parametrize("tool", TOOLS)
async def test_no_path_leads_out(shipped: ExtensionSnapshot, workspace: Path, tool: str, path: str) -> None:
    plant_links(workspace)
    arguments = {"path": path.format(parent=workspace.parent)}
    arguments |= {"write_file": {"content": "mine"}, "search_files": {"text": "s"}}.get(tool, {})
    outcome = await call_tool(shipped.tools, tool, **arguments)
    assert outcome.status == "error"
    assert "leads out of the workspace" in outcome.result.llm_content
    assert (workspace.parent / "secret.txt").read_text() == "secret"


async def test_links_are_neither_listed_through_nor_searched(
    shipped: ExtensionSnapshot, workspace: Path
) -> None:
    plant_links(workspace)
    (workspace / "own.txt").write_text("no secret here")
    assert await ask(shipped.tools, "list_files", pattern="**/*.txt") == "own.txt"
    assert await ask(shipped.tools, "search_files", text="SECRET") == "own.txt:1: no secret here"
    assert await ask(shipped.tools, "list_files") == "link.txt (link)\nout (link)\nown.txt (14 bytes)"


async def test_a_link_inside_the_workspace_is_followed(shipped: ExtensionSnapshot, workspace: Path) -> None:
    (workspace / "real.txt").write_text("content")
    (workspace / "alias.txt").symlink_to("real.txt")
    assert await ask(shipped.tools, "read_file", path="alias.txt") == "content"
    await ask(shipped.tools, "write_file", path="alias.txt", content="changed")
    assert (workspace / "real.txt").read_text() == "changed"
    assert (workspace / "alias.txt").is_symlink()


async def test_a_file_is_read_in_pieces(shipped: ExtensionSnapshot, workspace: Path) -> None:
    (workspace / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    text = await ask(shipped.tools, "read_file", path="long.txt", start_line=3, max_lines=2)
    assert text == "line 3\nline 4\n[the file continues: read from line 5]"
    assert await ask(shipped.tools, "read_file", path="long.txt", start_line=10) == "line 10"
    assert (
        await ask(shipped.tools, "read_file", path="long.txt", start_line=99)
        == "(the file has only 10 lines)"
    )
    assert (await ask(shipped.tools, "read_file", path="long.txt", max_lines=-1)).count("\n") == 9


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("nowhere.txt", "'nowhere.txt' does not exist"),
        ("folder", "is a folder"),
        ("folder/x/y.txt", "'folder/x/y.txt' does not exist"),
        ("text.txt/y.txt", "not a folder"),
        ("binary", "is not a text file"),
        ("pipe", "is not a regular file"),
        ("a\0b", "does not exist"),
        ("x" * 5000, "not a usable path"),
    ],
)
async def test_what_cannot_be_read_is_explained(
    shipped: ExtensionSnapshot, workspace: Path, path: str, complaint: str
) -> None:
    (workspace / "folder").mkdir()
    (workspace / "text.txt").write_text("x")
    (workspace / "binary").write_bytes(b"a\0b")
    os.mkfifo(workspace / "pipe")
    outcome = await call_tool(shipped.tools, "read_file", path=path)
    assert outcome.status == "error"
    assert complaint in outcome.result.llm_content


async def test_writing_makes_folders_and_keeps_permissions(
    shipped: ExtensionSnapshot, workspace: Path
) -> None:
    assert (
        await ask(shipped.tools, "write_file", path="a/b/c.txt", content="héllo")
        == "created a/b/c.txt (6 bytes)"
    )
    script = workspace / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    assert await ask(shipped.tools, "write_file", path="run.sh", content="new") == "replaced run.sh (3 bytes)"
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o755)
    assert sorted(os.listdir(workspace)) == ["a", "run.sh"]


@pytest.mark.parametrize("path", [".", "folder", ""])
async def test_a_folder_is_not_written_over(shipped: ExtensionSnapshot, workspace: Path, path: str) -> None:
    (workspace / "folder").mkdir()
    assert "is a folder" in await ask(shipped.tools, "write_file", path=path, content="x")


async def test_a_search_skips_files_that_are_not_text(shipped: ExtensionSnapshot, workspace: Path) -> None:
    (workspace / "binary").write_bytes(b"needle\0")
    (workspace / ".hidden").mkdir()
    (workspace / ".hidden" / "x.txt").write_text("needle")
    (workspace / "a.py").write_text("x\nneedle = 1\n")
    (workspace / "b.md").write_text("Needle")
    assert await ask(shipped.tools, "search_files", text="needle") == "a.py:2: needle = 1\nb.md:1: Needle"
    assert await ask(shipped.tools, "search_files", text="needle", ignore_case=False) == "a.py:2: needle = 1"
    assert await ask(shipped.tools, "search_files", text="needle", pattern="*.md") == "b.md:1: Needle"
    assert "empty" in await ask(shipped.tools, "search_files", text="")


async def test_only_writing_asks(shipped: ExtensionSnapshot) -> None:
    kinds = {tool.name: tool.kind for tool in shipped.tools if tool.name in TOOLS}
    assert kinds == {
        "read_file": Kind.Read,
        "list_files": Kind.Read,
        "search_files": Kind.Search,
        "write_file": Kind.Write,
    }


RUN_CODE = (
    ".env",
    "sub/.env.local",
    "Makefile",
    "tests/conftest.py",
    ".github/workflows/ci.yml",
    ".vscode/tasks.json",
    "package.json",
    "pyproject.toml",
    "vite.config.ts",
    ".pre-commit-config.yaml",
    "Dockerfile",
)


@pytest.mark.parametrize(
    ("path", "action"),
    [
        ("notes/plan.md", "allow"),
        ("my-agents.md", "allow"),
        ("policy.toml", "ask"),
        ("./x/../Policy.toml/.", "ask"),
        ("/home/ann/work/dovetail.toml", "ask"),
        (".dovetail/remembered.toml", "ask"),
        ("extensions/handy/extension.py", "ask"),
        ("agents/master.md", "ask"),
        ("skills/review/SKILL.md", "ask"),
        ("sub/.git/config", "ask"),
        (".git", "ask"),
        ("prompts/master.yaml", "ask"),
        (".gitignore", "allow"),
        *((path, "ask") for path in RUN_CODE),
        *((path, "allow") for path in ("src/app.py", "make.md", "docs/environment.md", "tests/test_app.py")),
        ("link/e/extension.py", "ask"),
        ("ln.txt", "ask"),
        ("chain/e/extension.py", "ask"),
    ],
)
def test_free_edits_do_not_reach_what_decides_what_may_run(
    shipped: ExtensionSnapshot, workspace: Path, path: str, action: str
) -> None:
    (workspace / "extensions").mkdir()
    (workspace / "link").symlink_to("extensions")
    (workspace / "chain").symlink_to("link")
    (workspace / "ln.txt").symlink_to("policy.toml")
    policy = Policy(sources=[PolicyFiles(lambda: shipped.policy_files)], root=workspace)
    call = PolicyCall(tool="write_file", kind=Kind.Write, args={"path": path, "content": ""}, mode="auto")
    assert policy.decide(call).action == action
    assert policy.decide(replace(call, mode="yolo")).action == "allow"


async def preview(shipped: ExtensionSnapshot, **arguments: str) -> dict[str, Any] | None:
    [tool] = [tool for tool in shipped.tools if tool.name == "write_file"]
    return await make_preview(tool, arguments, ToolContext(call_id="c1"))


async def test_a_write_shows_its_difference_before_and_after(
    shipped: ExtensionSnapshot, workspace: Path
) -> None:
    (workspace / "notes.md").write_text("oak\nash\n")
    expected = "--- a/notes.md\n+++ b/notes.md\n@@ -1,2 +1,2 @@\n oak\n-ash\n+elm"
    change = {"path": "notes.md", "diff": expected, "is_new": False}
    before = await preview(shipped, path="notes.md", content="oak\nelm\n")
    assert before == {"kind": "diff", **change}
    outcome = await call_tool(shipped.tools, "write_file", path="notes.md", content="oak\nelm\n")
    assert outcome.result.return_display == change
    assert outcome.result.llm_content == "replaced notes.md (8 bytes)"


async def test_a_new_file_a_binary_a_huge_and_an_equal_one_are_described(
    shipped: ExtensionSnapshot, workspace: Path
) -> None:
    new = await preview(shipped, path="deep/new.txt", content="a")
    assert new == {
        "kind": "diff",
        "path": "deep/new.txt",
        "diff": "--- /dev/null\n+++ b/deep/new.txt\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file",
        "is_new": True,
    }
    assert not (workspace / "deep").exists()
    (workspace / "image").write_bytes(b"\0\1")
    (workspace / "huge").write_text("x" * 2_500_000)
    (workspace / "same").write_text("x")
    (workspace / "long").write_text("".join(f"{number}\n" for number in range(5000)))
    texts = [
        (await preview(shipped, path=name, content="x") or {})["text"] for name in ("image", "huge", "same")
    ]
    assert texts == [
        "Replaces image, which is a binary file of 2 bytes, by 1 bytes of text.",
        "Replaces huge, which is too large to compare: 2500000 bytes before, 1 after.",
        "Changes nothing: same has this content already.",
    ]
    long = await preview(shipped, path="long", content="x")
    assert long is not None
    assert long["diff"].endswith("more lines")


async def test_small_change_of_a_long_file_is_shown_at_its_place(
    shipped: ExtensionSnapshot, workspace: Path
) -> None:
    lines = [f"line {number}" for number in range(1, 20_001)]
    (workspace / "long.txt").write_text("\n".join(lines) + "\n")
    lines[9_999] = "changed"
    small = await preview(shipped, path="long.txt", content="\n".join(lines) + "\n")
    assert small is not None
    assert small["diff"].splitlines()[2:] == [
        "@@ -9997,7 +9997,7 @@",
        " line 9997",
        " line 9998",
        " line 9999",
        "-line 10000",
        "+changed",
        " line 10001",
        " line 10002",
        " line 10003",
    ]
    other = await preview(shipped, path="long.txt", content="\n".join(f"row {line}" for line in lines))
    assert other is not None
    assert str(other["text"]).startswith("Replaces long.txt: ")


async def test_a_write_outside_of_the_workspace_has_no_preview(
    shipped: ExtensionSnapshot, workspace: Path
) -> None:
    plant_links(workspace)
    for path in ("../secret.txt", "link.txt", "."):
        assert await preview(shipped, path=path, content="x") is None


PRIVATE = (
    ".dovetail/keys.json",
    ".dovetail",
    "sub/../.dovetail/keys.json",
    "{root}/.dovetail/",
    "alias",
    "hard",
    "way/keys.json",
)


@pytest.mark.parametrize("path", PRIVATE)
@pytest.mark.parametrize("tool", TOOLS)
async def test_no_tool_opens_the_folder_of_dovetail(
    shipped: ExtensionSnapshot, workspace: Path, tool: str, path: str
) -> None:
    plant_secret(workspace)
    arguments = {"path": path.format(root=workspace)}
    arguments |= {"write_file": {"content": "mine"}, "search_files": {"text": "s"}}.get(tool, {})
    outcome = await call_tool(shipped.tools, tool, **arguments)
    if (tool, path) != ("write_file", "hard"):  # a hard link is replaced, the secret stays
        assert outcome.status == "error"
    assert "the-secret" not in outcome.result.llm_content
    assert (workspace / ".dovetail" / "keys.json").read_text() == "the-secret"


def plant_secret(workspace: Path) -> None:
    """A secret in the folder of Dovetail, and ways to it."""
    for name in ("sub", ".dovetail"):
        (workspace / name).mkdir()
    secret = workspace / ".dovetail" / "keys.json"
    secret.write_text("the-secret")
    (workspace / "alias").symlink_to(secret)
    (workspace / "way").symlink_to(".dovetail")
    os.link(secret, workspace / "hard")


async def test_a_secret_cannot_be_guessed_by_searching_for_its_parts(
    shipped: ExtensionSnapshot, workspace: Path
) -> None:
    protect(["walnut-key-of-the-safe"])
    (workspace / "settings.toml").write_text('key = "walnut-key-of-the-safe"\n')
    for part in ("walnut-k", 'key = "w', "walnut-key-of-the-safe"):
        assert "no line contains" in await ask(shipped.tools, "search_files", text=part)
        assert "no line contains" in await ask(
            shipped.tools, "search_files", text=part.upper(), ignore_case=True
        )
    assert await ask(shipped.tools, "search_files", text="key =") == 'settings.toml:1: key = "***"'


@pytest.mark.parametrize("before", range(1980, 2001, 5))
async def test_a_secret_at_the_end_of_what_is_shown_of_a_line_is_masked(
    shipped: ExtensionSnapshot, workspace: Path, before: int
) -> None:
    protect(["walnut-key-of-the-safe"])
    (workspace / "long.txt").write_text(f"{'x' * before}walnut-key-of-the-safe{'y' * 99}")
    assert "waln" not in await ask(shipped.tools, "read_file", path="long.txt")
    (workspace / "long.txt").write_text(f"{'x' * (before - 1700)}walnut-key-of-the-safe")
    assert "waln" not in await ask(shipped.tools, "search_files", text="xxx")


async def test_lists_and_searches_leave_out_the_folder_of_dovetail_but_for_skills(
    shipped: ExtensionSnapshot, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_DATA", str(workspace / "data"))
    plant_secret(workspace)
    (workspace / "data" / "private" / "shop").mkdir(parents=True)
    (workspace / "data" / "private" / "shop" / "keys.json").write_text("the-secret")
    (workspace / ".dovetail" / "skills").mkdir()
    (workspace / ".dovetail" / "skills" / "SKILL.md").write_text("a skill")
    assert ".dovetail" not in await ask(shipped.tools, "list_files")
    assert "keys" not in await ask(shipped.tools, "list_files", pattern="**/*.json")
    assert "no line contains" in await ask(shipped.tools, "search_files", text="the-secret")
    assert await ask(shipped.tools, "read_file", path=".dovetail/skills/SKILL.md") == "a skill"
