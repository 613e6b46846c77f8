"""`dovetail init`: write a project that runs at once.

A template is a folder in `templates/projects`. The first paragraph of its README describes it, and the first
block of commands there is what a user runs next.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import typer

from dovetail.cli.output import dump_json, print_styled
from dovetail.cli.scaffold import write_files
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError
from dovetail.extensions.scaffold import find_template

app = typer.Typer()

_PROJECT = "my-project"
"""The name of the project in the texts of a template."""
_COMMANDS = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
_UNWANTED = frozenset({"__pycache__", ".pytest_cache", ".dovetail"})


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of project."""

    folder: Path

    @property
    def description(self) -> str:
        """The first paragraph of its README."""
        return " ".join(self._read_readme().split("\n\n")[1].split())

    @property
    def commands(self) -> list[str]:
        """The commands to run next, as its README lists them."""
        found = _COMMANDS.search(self._read_readme())
        return found[1].strip().splitlines() if found else []

    def read_files(self, name: str) -> dict[str, str]:
        """Return the texts of all files by their paths, for a project of that name."""
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        relative = [path.relative_to(self.folder) for path in paths]
        return {
            str(path): (self.folder / path).read_text(encoding="utf-8").replace(_PROJECT, name)
            for path in relative
            if _UNWANTED.isdisjoint(path.parts)
        }

    def _read_readme(self) -> str:
        return (self.folder / "README.md").read_text(encoding="utf-8")


@app.command("init")
def init_project(
    folder: Path = typer.Argument(Path(), metavar="DIR", help="The folder; by default the current one."),
    template: str = typer.Option("chat", "--template", "-t", help="The kind of project; see --list."),
    list_only: bool = typer.Option(False, "--list", help="List the templates."),
    force: bool = typer.Option(False, "--force", help="Overwrite files that exist."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Create a project: extension folder with a test, agent, skill, prompt, rules, settings and README."""
    templates = find_templates()
    if list_only:
        _list(templates, as_json=as_json)
        return
    if template not in templates:
        raise ConfigError(explain_unknown("template", template, templates), hint="See: dovetail init --list")
    chosen, place = templates[template], folder.resolve()
    written = write_files(place, chosen.read_files(place.name or _PROJECT), force=force)
    move = [] if place == Path.cwd() else [f"cd {shlex.quote(str(folder))}"]
    commands = [*move, *chosen.commands]
    if as_json:
        report = {"template": template, "folder": str(place), "files": written, "next": commands}
        typer.echo(dump_json(report, indent=2))
        return
    for path in written:
        typer.echo(f"wrote {folder / path}")
    typer.echo("\nNext:\n")
    for command in commands:
        typer.echo(f"  {command}")
    typer.echo(f"\nRead {folder / 'README.md'} for what to change first.")


def find_templates() -> dict[str, Template]:
    """Return the templates by name, the plainest first."""
    folders = sorted(path.parent for path in find_template("projects").glob("*/README.md"))
    found = {folder.name: Template(folder) for folder in folders}
    return {"chat": found.pop("chat"), **found}


def _list(templates: dict[str, Template], *, as_json: bool) -> None:
    if as_json:
        rows = [{"name": name, "description": each.description} for name, each in templates.items()]
        typer.echo(dump_json(rows, indent=2))
        return
    for name, each in templates.items():
        print_styled(f"{name:14}", "bold", end="")
        typer.echo(each.description)
