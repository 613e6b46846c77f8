"""Write a new extension folder that works at once, with its test."""

import re
from pathlib import Path

from dovetail.assets import find_assets
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

_CARD = """/** Draws the calls of `{name}` in the page. A saved change is loaded with the folder. */

/** @param {{import("./dovetail").Dovetail}} dovetail */
export default function register({{ React, card }}) {{
  const h = React.createElement;

  card("{name}", function Greeting({{ input, output }}) {{
    return h(
      "div",
      {{ style: {{ padding: "4px 0" }} }},
      h("p", {{ style: {{ fontSize: 22 }} }}, output),
      h("p", {{ style: {{ color: "var(--soft)" }} }}, `for ${{input.who}}`),
    );
  }});
}}
"""


def create_folder(root: Path, name: str, *, with_card: bool = False) -> list[Path]:
    """Write `<root>/<name>` and return the files in it; with a card also those for the page.

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
    texts = {
        folder / "extension.py": _EXTENSION.format(name=name),
        folder / f"test_{name}.py": _TEST.format(name=name, place=f"{root.name}/{name}"),
    }
    if with_card:
        texts[folder / "web" / "card.js"] = _CARD.format(name=name)
        if (types := _find_types()) is not None:
            texts[folder / "web" / types.name] = types.read_text(encoding="utf-8")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)


def _find_types() -> Path | None:
    """Return the declarations that help an editor with a card; they are part of the built page."""
    web = find_assets("web")
    types = None if web is None else web / "dovetail.d.ts"
    return types if types is not None and types.is_file() else None
