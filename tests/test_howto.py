"""The commands on the pages of docs/howto do what the pages say, with a real server and a scripted model."""

import asyncio
import re
from pathlib import Path

import pytest

from dovetail.testing import ScriptedServer
from ports import find_port
from postgres import make_database
from recipe_pages import Reader, Step, check, find_steps

FOLDER = Path(__file__).parent.parent / "docs" / "howto"
PAGES = [page for page in sorted(FOLDER.glob("*.md")) if not page.name.endswith(("index.md", ".zh.md"))]
WITH_COMMANDS = [page for page in PAGES if any(find_steps(page.read_text(encoding="utf-8")))]
DATABASE = "postgresql://dovetail:password@localhost/dovetail"


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_reader_who_follows_the_page_sees_what_it_says(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    swap = {":8000": f":{find_port()}"}
    if DATABASE in page.read_text(encoding="utf-8"):
        swap[DATABASE] = asyncio.run(make_database())
    with ScriptedServer() as model, Reader(folder, model, swap) as reader:
        reader.environment["PORT"] = swap[":8000"][1:]
        reader.follow(page)
        assert model.script.unused == []


def test_index_lists_every_page_with_its_title_and_first_sentence() -> None:
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    for page in PAGES:
        title, _, rest = page.read_text(encoding="utf-8").partition("\n\n")
        sentence = " ".join(rest.partition("\n\n")[0].split())
        assert f"- [{title.removeprefix('# ')}]({page.name}): {sentence}" in index


def test_chinese_index_lists_the_pages_in_the_same_order() -> None:
    indexes = [(FOLDER / name).read_text(encoding="utf-8") for name in ("index.md", "index.zh.md")]
    english, chinese = (re.findall(r"^(?:##|- \[.+?\]\((.+?)\))", index, re.MULTILINE) for index in indexes)
    assert english == chinese


def test_every_page_fits_on_a_screen_and_links_further() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 85, page.name
        assert re.search(r"^More: \[", text, re.MULTILINE), page.name


def test_output_that_differs_from_the_page_is_caught() -> None:
    [step] = find_steps("```bash\necho one\n```\n\n```text\none, … three\n```\n")
    check(step, "one, two, three\n", "page")
    with pytest.raises(AssertionError, match="page prints"):
        check(step, "one, two, four\n", "page")


def test_file_and_serving_script_are_recognized() -> None:
    file = '```python title="ask.py"\nprint(1)\n```\n'
    [first, second] = find_steps(
        f"{file}\n<!-- stays -->\n```bash\ndovetail serve\n```\n\n```python\n2\n```\n"
    )
    assert (first.title, first.code) == ("ask.py", "print(1)\n")
    assert second == Step(7, "bash", None, "dovetail serve\n", None, [], True)
