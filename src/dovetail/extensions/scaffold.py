"""Write a new extension folder that works at once, with its test."""

import re
from pathlib import Path

from dovetail.errors import ConfigError

_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")

_EXTENSION = '''"""Says hello: change it into what you need."""


def {name}(who: str, times: int = 1) -> str:
    """A greeting."""
    return " ".join([f"Hello, {{who}}!"] * times)


TOOL = {{
    "label": "{name}",
    "name": "{name}",
    "description": "Greet a person by name",
    "parameters": {{
        "who": {{"type": "string", "description": "Whom to greet", "required": True}},
        "times": {{"type": "integer", "description": "How often", "default": 1}},
    }},
    "execute": {name},
}}
'''

_TEST = '''"""Run it with: pytest {place}"""

from dovetail.testing import call_folder_tool


def test_it_greets() -> None:
    """Calls the folder's tool as a model would; with several tools, name one before the arguments."""
    assert call_folder_tool(__file__, who="Ada", times=2) == "Hello, Ada! Hello, Ada!"
'''


def create_folder(root: Path, name: str) -> list[Path]:
    """Write `<root>/<name>` and return the files in it.

    Raises:
        ConfigError: the name cannot be a tool's name, or the folder exists.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"Invalid name {name!r}: use lower-case letters, digits and _, such as my_tool.")
    folder = root / name
    if folder.exists():
        raise ConfigError(
            f"{folder} already exists.", hint="Choose another name, or edit the existing folder."
        )
    folder.mkdir(parents=True)
    texts = {
        folder / "extension.py": _EXTENSION.format(name=name),
        folder / f"test_{name}.py": _TEST.format(name=name, place=f"{root.name}/{name}"),
    }
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)
