"""The compose file starts commands that exist, with settings that exist; both files pass their linters."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from dovetail.cli.main import build_app
from dovetail.settings.environment import ENVIRONMENT, FURTHER_VARIABLES

FOLDER = Path(__file__).parent.parent / "deploy"


def read_services() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]


def test_commands_of_the_compose_file_exist() -> None:
    for service in read_services().values():
        if service["image"] == "dovetail":
            _, name, *options = service["command"].split()
            command: Any = get_command(build_app(name))
            known = [
                flag for each in command.commands[name].params for flag in each.opts + each.secondary_opts
            ]
            assert set(options) <= set(known)


def test_variables_of_the_compose_file_exist() -> None:
    known = ENVIRONMENT.keys() | FURTHER_VARIABLES.keys()
    for service in read_services().values():
        if service["image"] == "dovetail":
            assert service["environment"].keys() <= known


def test_variables_of_the_page_exist_and_keys_that_look_alike_are_in_one_table() -> None:
    page = (FOLDER.parent / "docs" / "deploy.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:DOVETAIL|EXTENSIONS?)_[A-Z_]+)[`=]", page))
    assert named <= ENVIRONMENT.keys() | FURTHER_VARIABLES.keys()
    keys = {"DOVETAIL_API_KEY", "DOVETAIL_API_KEYS", "DOVETAIL_SERVER_KEY", "EXTENSIONS_ADMIN_TOKEN"}
    assert keys <= set(re.findall(r"^\| `(\w+)`[^|]*\|[^|]*\|[^|]*\|$", page, re.MULTILINE))


def test_every_variable_that_must_be_set_is_in_the_example() -> None:
    needed = set(re.findall(r"\$\{(\w+):\?", (FOLDER / "compose.yaml").read_text()))
    assert needed <= set(re.findall(r"^(\w+)=", (FOLDER / "env.example").read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    "command",
    [
        ["hadolint", "Dockerfile"],
        ["check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"],
    ],
    ids=["Dockerfile", "compose.yaml"],
)
def test_the_linter_finds_nothing(command: list[str]) -> None:
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run([program, *command[1:]], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
