"""The documentation site: what `make docs` copies, refuses and generates, and how its words are spelled."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from documentation.anchors import find_headings, keep_anchors
from documentation.build import BuildError, build_site
from documentation.for_models import write_for_models
from documentation.languages import CHINESE, ENGLISH
from documentation.reference import chunks, pages
from documentation.stage import DOCS, NAVIGATION, ROOT, Stage


def write_files(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def stage(root: Path, target: Path) -> dict[str, str]:
    """The pages of the Chinese copy by their names."""
    Stage(CHINESE, target, root).fill()
    return {page.relative_to(target).as_posix(): page.read_text("utf-8") for page in target.rglob("*.md")}


def test_a_translation_replaces_its_page_and_other_pages_say_that_they_have_none(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "docs/index.md": "# Start\n\nSee [tools](tools.md).\n",
            "docs/index.zh.md": "# 开始\n\n参见[工具](tools.md)、[本页](index.zh.md)。一个\n测试。\n",
            "docs/tools.md": "# Tools\n\nText.\n",
        },
    )
    copied = stage(tmp_path, tmp_path / "copy")
    assert copied["index.md"] == "# 开始\n\n参见[工具](tools.md)、[本页](index.md)。一个测试。\n"
    assert copied["tools.md"].startswith(f"# Tools\n\n{CHINESE.untranslated}")
    assert "index.zh.md" not in copied


def test_links_out_of_the_folder_lead_to_pages_with_the_linked_files(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "docs/guide/page.md": "# Page\n\n[code](../../src/a.py), [all](../../src), `[not](../../x.py)`\n",
            "src/a.py": '"""Adds."""\n\nprint("```")\n',
            "src/README.md": "Back to the [page](../docs/guide/page.md#top).\n",
        },
    )
    copied = stage(tmp_path, tmp_path / "copy")
    assert (
        "[code](../repository/src/a.py.md), [all](../repository/src.md), `[not](../../x.py)`"
        in copied["guide/page.md"]
    )
    assert 'print("```")' in copied["repository/src/a.py.md"]
    assert "- `a.py`: Adds." in copied["repository/src.md"]


def test_models_get_an_index_and_each_page_as_markdown(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "docs/index.md": "# Start\n\nWhat [it](tools.md) is. More.\n",
            "docs/tools.md": "# Tools\n\n| a |\n|---|\n\nA tool is a function.\n",
            "docs/reference/cli.md": "# Commands\n",
        },
    )
    Stage(ENGLISH, tmp_path / "staged", tmp_path).fill()
    write_for_models(tmp_path / "staged", tmp_path / "site")
    index = (tmp_path / "site" / "llms.txt").read_text("utf-8")
    assert index.startswith("# Dovetail\n\n> Build, run and serve AI agents in Python")
    assert "## First hour\n\n- [Start](index.md): What it is.\n" in index
    assert "## Guides\n\n- [Tools](tools.md): A tool is a function.\n" in index
    assert "## Reference\n\n- [Commands](reference/cli.md)\n" in index
    linked = re.findall(r"\]\(([^)]+)\)", index)
    assert [name for name in linked if not (tmp_path / "site" / name).exists()] == []


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("```bash\nmake wheel    # in a clone: it builds. Then:\n```\n\nInstall it. More.", "Install it."),
        ("A run is one task: from start to end. More.", "A run is one task: from start to end."),
        ("[Tools](tools.md) need 1.1 GB (docs/tools.md). More.", "Tools need 1.1 GB (docs/tools.md)."),
        ("Four sources, from weak to strong:\n\n1. The defaults.", "Four sources, from weak to strong."),
        ("~~~\nA program.\n~~~", ""),
    ],
)
def test_the_index_for_models_has_the_first_sentence_of_the_prose(
    tmp_path: Path, text: str, summary: str
) -> None:
    write_files(tmp_path, {"pages/runs.md": f"# Runs\n\n{text}\n"})
    write_for_models(tmp_path / "pages", tmp_path / "site")
    index = (tmp_path / "site" / "llms.txt").read_text("utf-8")
    assert index.endswith(f"- [Runs](runs.md): {summary}\n" if summary else "- [Runs](runs.md)\n")


def test_comments_are_left_out_and_lists_of_pages_are_filled(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "docs/index.md": "# Start\n\n<!-- replies: [] -->\n<!-- pages: tour -->\n",
            f"docs/{NAVIGATION}": "nav: [{First hour: tour}]\n",
            "docs/tour/team.md": "# For teams\n\nFolders of tools. More text.\n",
            "docs/tour/team.zh.md": "# 写给团队\n\n工具文件夹。更多内容。\n",
        },
    )
    copied = stage(tmp_path, tmp_path / "copy")
    assert "replies" not in copied["index.md"]
    assert "- **[写给团队](tour/team.md)**  \n  工具文件夹。\n" in copied["index.md"]
    assert copied["tour/index.md"].startswith("# 第一个小时\n\n- **[写给团队](team.md)**")


TRANSLATED = sorted(DOCS.rglob("*.zh.md"))


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_translation_has_the_headings_of_its_original(page: Path) -> None:
    original = page.with_name(page.name.replace(".zh.", "."))
    levels = [
        [heading[0].partition(" ")[0] for heading in find_headings(path.read_text("utf-8"))]
        for path in (original, page)
    ]
    assert levels[0] == levels[1]


def test_headings_of_a_translation_also_have_the_anchors_of_its_original() -> None:
    original = "# A\n\n## First `step`\n\n```bash\n## not a heading\n```\n\n## [Then](x.md)\n"
    translation = "# 甲\n\n## 第一步\n\n## Then\n"
    assert keep_anchors(translation, original) == '# 甲\n\n<a id="first-step"></a>\n\n## 第一步\n\n## Then\n'


def test_a_broken_link_and_a_broken_anchor_fail_the_build_with_their_lines(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "docs/index.md": "# Start\n\n[gone](gone.md)\n[code](../gone.py)\n",
            "docs/tools.md": "# Tools\n\n[here](index.md#nowhere)\n",
            f"docs/{NAVIGATION}": "nav: [index.md, tools.md]\n",
        },
    )
    with pytest.raises(BuildError) as error:
        build_site(tmp_path / "build", tmp_path)
    report = str(error.value)
    assert "[ index.md:3:" in report
    assert "[ index.md:4:" in report
    assert re.search(r"anchor does not exist\s+╭─\[ tools\.md:3:", report)
    assert report.endswith("3 issues found")


def list_titles(navigation: Any) -> Iterator[str]:
    for entry in navigation:
        if isinstance(entry, dict):
            [(title, value)] = entry.items()
            yield title
            yield from list_titles(value) if isinstance(value, list) else ()


def test_the_navigation_has_every_folder_and_its_titles_are_translated() -> None:
    text = (DOCS / NAVIGATION).read_text("utf-8")
    titles = list(list_titles(yaml.safe_load(text)["nav"]))
    assert [title for title in titles if title not in CHINESE.titles] == []
    folders = {page.relative_to(DOCS).parts[0] for page in DOCS.rglob("*.md") if page.parent != DOCS}
    assert [folder for folder in folders if not re.search(rf"\b{folder}\b", text)] == []
    assert ENGLISH.translate(titles) == titles


def test_the_generated_reference_is_fresh() -> None:
    made = pages.make_all()
    stale = [path.name for path, text in made.items() if not path.exists() or path.read_text("utf-8") != text]
    assert stale == [], "the code has changed: run `make reference`"
    assert {path for path in pages.FOLDER.rglob("*.md") if path.name != "index.md"} == made.keys()


def test_the_page_about_chunks_has_every_type_that_the_encoder_makes() -> None:
    source = (ROOT / "src/dovetail/sessions/chunks.py").read_text("utf-8")
    types = set(re.findall(r'"type": "([\w-]+)"', source))
    assert types - {chunk["type"] for _, chunk in chunks.make_chunks()} == set()
    assert [json.dumps(chunk) for _, chunk in chunks.make_chunks()]


SPELLED = ("docs", "extensions", "agents", "prompts", "examples", "scripts", "src", *ROOT.glob("*.md"))


def check_spelling(*paths: str | Path) -> str:
    command = [sys.executable, "-m", "codespell_lib", *map(str, paths)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def test_words_in_pages_and_code_are_spelled_well(tmp_path: Path) -> None:
    assert check_spelling(*SPELLED) == ""
    (tmp_path / "page.md").write_text("You will " + "reci" + "eve it.\n")
    assert "==> receive" in check_spelling(tmp_path / "page.md")
