"""Write a new extension folder that works at once, with its test."""

import keyword
import re
from pathlib import Path

from dovetail.assets import find_assets
from dovetail.errors import ConfigError

_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
_SAMPLE = "my_tool"
"""The name of the tool in the files of the template."""


def create_folder(root: Path, name: str, *, with_card: bool = False) -> list[Path]:
    """Write `<root>/<name>` and return the files in it; with a card also those for the page.

    Raises:
        ConfigError: the name cannot be a tool's name, or the folder exists.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"Invalid name {name!r}: use lower-case letters, digits and _, such as my_tool.")
    if keyword.iskeyword(name):
        raise ConfigError(f"Invalid name {name!r}: it is a word of Python. Use, for example, my_{name}.")
    folder = root / name
    if folder.exists():
        raise ConfigError(
            f"{folder} already exists.", hint="Choose another name, or edit the existing folder."
        )
    names = ["extension.py", f"test_{_SAMPLE}.py", *(["web/card.js"] if with_card else [])]
    template = find_template("parts", "extension")
    texts = {
        folder / each.replace(_SAMPLE, name): (template / each)
        .read_text(encoding="utf-8")
        .replace(_SAMPLE, name)
        for each in names
    }
    if with_card and (types := _find_types()) is not None:
        texts[folder / "web" / types.name] = types.read_text(encoding="utf-8")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)


def find_template(*names: str) -> Path:
    """Return a file or folder of the shipped templates.

    Raises:
        ConfigError: the package was installed without them.
    """
    templates = find_assets("templates")
    if templates is None:
        raise ConfigError(
            "The templates are not installed.",
            hint="Install a wheel that contains them: in a clone, `make wheel` builds it.",
        )
    return templates.joinpath(*names)


def _find_types() -> Path | None:
    """Return the declarations that help an editor with a card; they are part of the built page."""
    web = find_assets("web")
    types = None if web is None else web / "dovetail.d.ts"
    return types if types is not None and types.is_file() else None
