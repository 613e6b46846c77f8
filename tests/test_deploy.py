"""The compose file starts commands that exist, with settings that exist."""

import re
from pathlib import Path
from typing import Any

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


def test_every_variable_that_must_be_set_is_in_the_example() -> None:
    needed = set(re.findall(r"\$\{(\w+):\?", (FOLDER / "compose.yaml").read_text()))
    assert needed <= set(re.findall(r"^(\w+)=", (FOLDER / "env.example").read_text(), re.MULTILINE))
