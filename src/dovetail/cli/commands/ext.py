"""`dovetail ext`: list, show, check, create and reload extension folders."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from dovetail.app import Dovetail
from dovetail.cli.output import Console
from dovetail.cli.remote import URL, name_caller, post
from dovetail.cli.scaffold import find_list
from dovetail.cli.terminal import JSON, WORKSPACE, print_json, print_report, without_logs
from dovetail.concurrency import run_sync
from dovetail.data.shapes import is_dict, is_mapping
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError
from dovetail.extensions.exclusion import EXCLUDED_BY_DEFAULT, Exclusion, read_exclusion
from dovetail.extensions.extension import POLICY, ExtensionNotice, ExtensionSnapshot
from dovetail.extensions.folder import is_extension
from dovetail.extensions.scaffold import create_folder
from dovetail.extensions.settings import FolderSettings
from dovetail.settings import find_workspace

app = typer.Typer(
    name="ext", help="List, show, check, create and reload extension folders.", no_args_is_help=True
)
console = Console(highlight=False, soft_wrap=True)

_HINTS = {
    401: "Pass the admin token with --token or EXTENSIONS_ADMIN_TOKEN.",
    403: "Pass the token with --token or EXTENSIONS_ADMIN_TOKEN.",
}
_SHOWN_HERE = ("dovetail.extensions.loader", "dovetail.agents.registry")


@app.command("list")
def list_extensions(workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """List the extension folders, their tools, and what failed to load."""
    snapshot = run_sync(_load(workspace))
    if as_json:
        print_json(snapshot.to_dict())
        return
    table = Table("folder", "tools", "from", box=None, header_style="bold")
    for folder in snapshot.folders:
        tools = [tool.name for tool in snapshot.tools if tool.origin == f"extension:{folder.name}"]
        table.add_row(folder.name, ", ".join(tools), str(folder.parent))
    console.print(table)
    for name in snapshot.excluded:
        console.print(f"[dim]left out[/dim] {name}: {_explain_exclusion(name)}")
    _show_problems(snapshot)


def _explain_exclusion(name: str) -> str:
    variable = "EXTENSION_EXCLUDED_EXTENSIONS"
    if name.casefold() in EXCLUDED_BY_DEFAULT:
        return f"by default; set {variable}= (empty) to load it"
    return f"{variable} names it"


@app.command("show")
def show_extension(
    name: str = typer.Argument(help="The name or path of a folder."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Show what an extension folder brings, and its settings with their values and sources."""
    snapshot = run_sync(_load_one(name, workspace))
    if as_json:
        settings = [asdict(row) for each in snapshot.settings.values() for row in each.shown]
        print_json({**snapshot.to_dict(), "folders": list(snapshot.folders), "settings": settings})
        raise typer.Exit(1 if snapshot.failed_extensions else 0)
    for folder in snapshot.folders:
        agents = sorted(path.stem for path in folder.glob("agents/*.md"))
        skills = sorted(path.parent.name for path in folder.glob("skills/*/SKILL.md"))
        for label, text in (
            ("folder", str(folder)),
            ("brings", _list_contents(snapshot, folder.name)),
            ("agents", ", ".join(agents)),
            ("skills", ", ".join(skills)),
            ("rules", POLICY if (folder / POLICY).is_file() else ""),
        ):
            if text:
                console.print(f"{label:8}{text}", markup=False)
        _show_settings(snapshot.settings.get(folder.name))
    _show_problems(snapshot)
    raise typer.Exit(1 if snapshot.failed_extensions else 0)


def _show_settings(settings: FolderSettings | None) -> None:
    for row in () if settings is None else settings.shown:
        console.print(
            f"[bold]{escape(row.key)}[/bold] = {escape(row.value or 'none')}  ({escape(row.source)})"
        )
        console.print(f"    {escape(row.type)}. {escape(row.description)}".rstrip())
        console.print(f"    Environment: {row.variable}", markup=False)


@app.command("check")
def check_extensions(
    names: list[str] = typer.Argument(None, help="Names or paths of folders; by default all."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Load extension folders as a server does and report problems; exit code 1 if one is broken."""
    snapshots = [run_sync(_load_one(name, workspace)) for name in names or []] or [run_sync(_load(workspace))]
    if as_json:
        reports = [snapshot.to_dict() for snapshot in snapshots]
        keys = ("loaded_extensions", "failed_extensions", "notices")
        print_json({key: [each for report in reports for each in report[key]] for key in keys})
    for snapshot in () if as_json else snapshots:
        for name in snapshot.loaded_extensions:
            console.print(f"[green]ok[/green]     {name}: {_list_contents(snapshot, name)}")
        _show_problems(snapshot)
    raise typer.Exit(1 if any(snapshot.failed_extensions for snapshot in snapshots) else 0)


def _list_contents(snapshot: ExtensionSnapshot, name: str) -> str:
    tools = [tool.name for tool in snapshot.tools if tool.origin == f"extension:{name}"]
    modules = snapshot.web[name].modules if name in snapshot.web else ()
    page = f"; for the page: {', '.join(modules)}" if modules else ""
    return (", ".join(tools) or "no tools") + page


@app.command("new")
def new_extension(
    name: str = typer.Argument(help="The name of the folder and its tool."),
    web: bool = typer.Option(False, "--web", help="Also write a card that draws the tool's calls."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Create an extension folder with a working tool and its test."""
    root = find_workspace(workspace) / "extensions"
    dovetail = run_sync(_look(workspace))
    _check_free(name, dovetail.extensions.snapshot, dovetail.list_reserved_names())
    files = [str(path) for path in create_folder(root, name, with_card=web)]
    place = find_list(dovetail, name)
    add = f"{place} lists its tools: add `{name}` to `tools:` so that the assistant uses it."
    print_report(
        {"name": name, "files": files, "add_to": place},
        *(f"wrote {path}" for path in files),
        f"Check it with `dovetail ext check {name}`, test it with `pytest extensions/{name}`.",
        "A running server loads it at its next reload.",
        *([add] if place else []),
        as_json=as_json,
    )


def _check_free(name: str, snapshot: ExtensionSnapshot, reserved: Mapping[str, str]) -> None:
    """Reject a name under which the new folder would not be loaded, or would hide another one."""
    if read_exclusion().has_extension(name):
        raise ConfigError(f"Folder {name!r} would not be loaded: {_explain_exclusion(name)}.")
    for tool in snapshot.tools:
        if tool.name == name:
            raise ConfigError(f"Tool {name!r} already exists in {tool.owner}.")
    if name in reserved:
        raise ConfigError(f"Tool name {name!r} already belongs to {reserved[name]}.")
    for folder in snapshot.folders:
        if folder.name == name:
            raise ConfigError(f"Extension folder {name!r} already exists: {folder}")


@app.command("reload")
def reload_extensions(
    url: str = URL,
    token: str | None = typer.Option(None, help="The admin token.", envvar="EXTENSIONS_ADMIN_TOKEN"),
    key: str | None = typer.Option(
        None, help="An API key; a server with keys also needs its admin token.", envvar="DOVETAIL_SERVER_KEY"
    ),
    as_json: bool = typer.Option(True, "--json", help="Print JSON; the report of this command always is."),
) -> None:
    """Make a running server reload its folders, agents, skills and policies, and print its report."""
    headers = {**({"x-admin-token": token} if token else {}), **name_caller(key)}
    report = post(f"{url.rstrip('/')}/api/v1/extensions/reload", headers, hints=_HINTS)
    print_json(report)
    raise typer.Exit(1 if _has_failed(report) else 0)


def _has_failed(report: dict[str, Any]) -> bool:
    parts = (report.get(name) for name in ("agents", "skills", "policy"))
    return bool(report.get("failed_extensions")) or any(
        is_dict(part) and part.get("failed") for part in parts
    )


async def _load(workspace: Path | None) -> ExtensionSnapshot:
    with without_logs(*_SHOWN_HERE):
        async with Dovetail(workspace=workspace) as dovetail:
            snapshot = _add_contributions(dovetail.extensions.snapshot, dovetail)
            return replace(snapshot, notices=(*snapshot.notices, *_find_unused_tables(dovetail)))


async def _look(workspace: Path | None) -> Dovetail:
    """Return an app that has read the workspace: what is loaded, which names are taken."""
    with without_logs(*_SHOWN_HERE):
        async with Dovetail(workspace=workspace) as dovetail:
            return dovetail


async def _load_one(name: str, workspace: Path | None) -> ExtensionSnapshot:
    """Return the report of one folder, even an excluded one; its names must not clash with other folders."""
    with without_logs(*_SHOWN_HERE):
        async with Dovetail(workspace=workspace) as dovetail:
            snapshot = await _load_alone(_find_folder(name, dovetail.extensions.roots), dovetail)
            return _add_contributions(snapshot, dovetail)


async def _load_alone(folder: Path, dovetail: Dovetail) -> ExtensionSnapshot:
    others = {
        tool.name: tool.owner
        for tool in dovetail.tools.get_all_tools()
        if tool.origin.startswith("extension:") and tool.origin != f"extension:{folder.name}"
    }
    others |= dovetail.list_reserved_names()
    siblings = frozenset(path.name.casefold() for path in folder.parent.iterdir() if path != folder)
    loader = dovetail.open_loader(
        folder.parent, reserved=lambda: others, exclusion=lambda: Exclusion(extensions=siblings)
    )
    snapshot = await loader.reload()
    await loader.close()
    return replace(
        snapshot, notices=tuple(each for each in snapshot.notices if each.extension == folder.name)
    )


def _add_contributions(snapshot: ExtensionSnapshot, dovetail: Dovetail) -> ExtensionSnapshot:
    """Return the report with a notice for each agent and skill of the folders that cannot be used."""
    broken = [(Path(each.path), each.error) for each in dovetail.agents.broken]
    broken += [(each.path, each.message) for each in dovetail.skills.problems]
    notices = [
        ExtensionNotice(extension=folder.name, text=f"left out: {text}")
        for folder in snapshot.folders
        for path, text in broken
        if path.is_relative_to(folder)
    ]
    return replace(snapshot, notices=(*snapshot.notices, *notices))


def _find_unused_tables(dovetail: Dovetail) -> list[ExtensionNotice]:
    """Return a notice for each table of settings whose folder does not exist."""
    snapshot = dovetail.extensions.snapshot
    failed = [failure.extension for failure in snapshot.failed_extensions]
    known = [*(folder.name for folder in snapshot.folders), *failed, *snapshot.excluded]
    tables = [name for name, value in dovetail.settings.get("extensions").items() if is_mapping(value)]
    return [
        ExtensionNotice(
            extension=name, text=f"[extensions.{name}] is not used: {explain_unknown('folder', name, known)}"
        )
        for name in tables
        if name not in known
    ]


def _find_folder(name: str, roots: tuple[Path, ...]) -> Path:
    """Return the folder that a name or a path means."""
    candidates = [Path(name).resolve(), *(root / name for root in roots)]
    for folder in candidates:
        if is_extension(folder):
            return folder
    if Path(name).is_dir():
        raise ConfigError(f"{name} has no extension.py.", hint="An extension is a folder with that file.")
    raise ConfigError(f"Unknown extension folder {name!r}.", hint=f"Searched: {', '.join(map(str, roots))}")


def _show_problems(snapshot: ExtensionSnapshot) -> None:
    for failure in snapshot.failed_extensions:
        place = f"{failure.file}:{failure.line}" if failure.line else failure.file or ""
        console.print(f"[red]broken[/red] {failure.extension}: ", end="")
        console.print(f"{failure.error}\n       {place}".rstrip(), markup=False)
    for notice in snapshot.notices:
        console.print(f"[yellow]notice[/yellow] {notice.extension}: ", end="")
        console.print(notice.text, markup=False)
