"""`dovetail skills`: list, show and create skills, and explain name resolution."""

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from dovetail.app import Dovetail
from dovetail.cli.output import Console
from dovetail.cli.scaffold import create_source
from dovetail.cli.terminal import AGENT_FILES, JSON, WORKSPACE, print_json, print_report, without_logs
from dovetail.concurrency import run_sync
from dovetail.errors import ConfigError
from dovetail.skills.library import SkillLibrary, find_roots
from dovetail.skills.skill import Skill

app = typer.Typer(
    name="skills", help="List, show and create skills, and explain name resolution.", no_args_is_help=True
)
console = Console(highlight=False, soft_wrap=True)

PROJECT = typer.Option(None, help="The folder a chat works in; by default the current one.")
NAME = typer.Argument(help="The skill's name.")


@app.command("list")
def list_skills(project: Path | None = PROJECT, as_json: bool = JSON) -> None:
    """List all skills, and the files that could not be read."""
    library = run_sync(_load(project))
    if as_json:
        errors = [{"path": str(each.path), "message": each.message} for each in library.problems]
        print_json({"skills": [_describe(skill) for skill in library.list()], "errors": errors})
        return
    table = Table("skill", "what for", "from", box=None, header_style="bold")
    for skill in library.list():
        table.add_row(skill.name, skill.description, skill.scope)
    console.print(table)
    for problem in library.problems:
        console.print("[red]left out[/red] ", end="")
        console.print(problem.message, markup=False)


@app.command("show")
def show_skill(name: str = NAME, project: Path | None = PROJECT, as_json: bool = JSON) -> None:
    """Show a skill."""
    library = run_sync(_load(project))
    skill = library.get(name)
    if skill is None:
        raise ConfigError(library.explain_missing(name))
    if as_json:
        print_json({**_describe(skill), "body": skill.body})
        return
    table = Table.grid(padding=(0, 2))
    table.add_row("name", skill.name)
    table.add_row("description", skill.description)
    table.add_row("from", f"{skill.path} ({skill.scope})")
    table.add_row("tools", "not named" if skill.allowed_tools is None else ", ".join(skill.allowed_tools))
    console.print(table)
    console.print(skill.body, markup=False)


@app.command("new")
def new_skill(
    name: str = typer.Argument(help="The name of the skill."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Create a skill in `skills/`."""
    path = create_source("skills", name, workspace).path
    print_report(
        {"name": name, "path": str(path)},
        f"wrote {path}",
        f"Show it with `dovetail skills show {name}`; in a chat, type /skill/{name}.",
        as_json=as_json,
    )


@app.command("why")
def explain_skill(name: str = NAME, project: Path | None = PROJECT, as_json: bool = JSON) -> None:
    """Show which file a name resolves to and which ones it hides; exit code 1 if there is none."""
    library = run_sync(_load(project))
    used, *hidden = [_describe(skill) for skill in library.find_all(name)] or [None]
    broken = [{"path": str(each.path), "message": each.message} for each in library.find_broken(name)]
    print_report(
        {"name": name, "used": used, "hidden": hidden, "errors": broken}, library.why(name), as_json=as_json
    )
    raise typer.Exit(0 if used else 1)


def _describe(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "scope": skill.scope,
        "path": str(skill.path),
        "allowed_tools": skill.allowed_tools,
    }


async def _load(project: Path | None) -> SkillLibrary:
    with without_logs(AGENT_FILES):
        return await _read(project)


async def _read(project: Path | None) -> SkillLibrary:
    async with Dovetail() as dovetail:
        if project is not None:
            shipped = dovetail.extensions.snapshot.skill_roots
            dovetail.skills.reload(find_roots(dovetail.workspace, project, shipped))
        return dovetail.skills
