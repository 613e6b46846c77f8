"""The two programs on each page of docs/migrate run against the same scripted model and print the same.

`there.py` uses the other library, `here.py` uses ours. Agently's dependencies do not fit ours, so it has an
environment of its own, which `make test` installs.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail.testing import ScriptedServer
from patience import PATIENCE
from recipe_pages import Reader, Step, check, find_steps

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "migrate").glob("*.md"))
AGENTLY = ROOT / ".conformance" / "bin" / "python"


def find_programs(page: Path) -> dict[str, Step]:
    return {step.title or "": step for step in find_steps(page.read_text(encoding="utf-8"))}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["there.py", "here.py"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_program_prints_what_the_page_says(page: Path, name: str, tmp_path: Path) -> None:
    python = AGENTLY if (page.stem, name) == ("agently", "there.py") else Path(sys.executable)
    if not python.exists():
        pytest.skip("Agently is not installed: make .conformance/.installed")
    step = find_programs(page)[name]
    with ScriptedServer(step.replies) as model, Reader(tmp_path, model, {}) as reader:
        environment = {**reader.environment, "LANGSMITH_TRACING": "false"}
        if python is AGENTLY:
            environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [python, reader.save(step)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        check(step, done.stdout, f"{page.name}:{step.line}")
        assert model.script.unused == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_both_programs_print_the_same(page: Path) -> None:
    programs = find_programs(page)
    assert programs["there.py"].output == programs["here.py"].output is not None


@pytest.mark.parametrize(
    "name",
    [
        "agent.prompt",
        "agent.request",
        "response.result",
        "key_style",
        "create_request",
        "Session",
        "your_role",
    ],
)
def test_the_guide_for_agently_names_what_its_examples_use(name: str) -> None:
    text = (ROOT / "docs" / "migrate" / "agently.md").read_text(encoding="utf-8")
    table = [line for line in text.splitlines() if line.startswith("| ")]
    assert [line for line in table if re.search(rf"`[^`]*{re.escape(name)}\b", line)]
