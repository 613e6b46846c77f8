"""Every `pip install` that the project prints or documents, and the one form for the project itself.

What a program prints comes from one function, which fits it to the environment; its module is not read here.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHOWN = (
    "*.md",
    "docs/**/*.md",
    "examples/**/*",
    "templates/**/*",
    "extensions/**/*",
    "deploy/*",
    "src/**/*.py",
)

OURS = re.compile(
    r'pip install (?:--no-cache-dir )?(?:-c constraints\.txt )?"\$\(ls (?:dist|\.)/\*\.whl\)\[[a-z,-]+\]"'
)
"""How the project is installed: from a wheel that `make wheel` built, with the extras that are named."""

WRITER = "src/dovetail/lazy.py"
"""The module whose `install_packages` writes the commands that programs print."""

_COMMAND = re.compile(r"""pip install (?:\{[^}]*\}|"[^"\n]*"|'[^'\n]*'|[^`"'\n|&;#)。，；.]|\.(?=\w))+""")


def find_commands(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield each command with the place where it stands, as `(place, command)`."""
    for path in sorted({path for pattern in SHOWN for path in root.glob(pattern)}):
        name = path.relative_to(root).as_posix()
        if path.is_file() and path.suffix not in (".png", ".pyc") and name not in ("CHANGELOG.md", WRITER):
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                for match in _COMMAND.finditer(line):
                    yield f"{name}:{number}", match[0].strip()


def list_foreign(root: Path = ROOT) -> list[str]:
    """Return the commands that install packages of others, each once."""
    return [*dict.fromkeys(command for _, command in find_commands(root) if not OURS.fullmatch(command))]
