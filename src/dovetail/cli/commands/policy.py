"""`dovetail policy`: check and list rules; revoke remembered approvals."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from dovetail.agents.catalog import list_callers
from dovetail.app import Dovetail
from dovetail.cli.output import Console
from dovetail.cli.terminal import (
    AGENT_FILES,
    JSON,
    WORKSPACE,
    describe_args,
    print_json,
    print_report,
    show_path,
    show_time,
    without_logs,
)
from dovetail.concurrency import run_sync
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError
from dovetail.extensions.extension import POLICY
from dovetail.policy.file import PolicyFile
from dovetail.policy.inspection import describe_policy, describe_remembered, find_doubts
from dovetail.policy.policy import Policy
from dovetail.policy.remembered import open_remembered
from dovetail.settings import find_workspace
from dovetail.tools.tool import Tool

app = typer.Typer(
    name="policy",
    help="Check and list rules; revoke remembered approvals.",
    no_args_is_help=True,
)
console = Console(highlight=False, soft_wrap=True)

_STYLES = {"broken": "red", "notice": "yellow"}
_PLACE = re.compile(r"(?P<path>.+?):(?:(?P<line>\d+):)? (?P<text>.*)", re.DOTALL)


@app.command("check")
def check_policy(
    files: list[Path] = typer.Argument(None, help="Policy files; by default all of the workspace."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Check policy files; problems have a line. Exit code 1 if a rule is invalid."""
    problems, numbers = run_sync(_check(files or [], workspace))
    if as_json:
        print_json({"problems": problems, "rules": numbers})
    else:
        _show_problems(problems)
        for path, number in numbers.items():
            if not any(each["path"] == path and each["kind"] == "broken" for each in problems):
                console.print(f"[green]ok[/green]     {path}: {number} {'rule' if number == 1 else 'rules'}")
        if not numbers:
            console.print(f"No {POLICY} found: only the built-in rules apply.")
    raise typer.Exit(1 if any(each["kind"] == "broken" for each in problems) else 0)


@app.command("list")
def list_rules(workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """List all rules in the order in which they are tried: the first that matches a call decides."""

    async def collect() -> list[dict[str, Any]]:
        async with Dovetail(workspace=workspace) as dovetail:
            return describe_policy(dovetail.runtime.policy, None, dovetail.workspace)

    with without_logs(AGENT_FILES):
        rules = run_sync(collect())
    if as_json:
        print_json(rules)
        return
    for rule in rules:
        place = f"{rule['path']}:{rule['line']}" if rule["line"] else rule["path"] or rule["source"]
        console.print(
            f"{rule['priority']:>5}  {rule['action']:5}  {_describe(rule)}  ({place})", markup=False
        )


@app.command("remembered")
def list_remembered(workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """List the calls that were always allowed, the newest first, with those taken back."""
    rules = [describe_remembered(rule) for rule in open_remembered(find_workspace(workspace)).list_all()]
    if as_json:
        print_json({"rules": rules})
        return
    for rule in rules:
        agent = f", agent {rule['agent']}" if rule["agent"] != "*" else ""
        given = f", {show_time(rule['given_at'])}" if rule["given_at"] else ""
        undone = f", taken back {show_time(rule['undone_at'])}" if rule["undone_at"] else ""
        call = f"{rule['tool']} {describe_args(rule['args'] or {})}".rstrip()
        console.print(f"{rule['id']}  {call}  ({rule['owner']}{agent}{given}{undone})", markup=False)
    if not rules:
        console.print("Nothing is always allowed.")
    elif any(not rule["undone_at"] for rule in rules):
        console.print("Take one back with: dovetail policy forget ID")


@app.command("forget")
def forget_answer(
    answer_id: str = typer.Argument(metavar="ID", help="The id in `dovetail policy remembered`."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Take back what was always allowed: the call needs approval again, also in running services."""
    rule = describe_remembered(open_remembered(find_workspace(workspace)).undo(answer_id))
    call = f"{rule['tool']} {describe_args(rule['args'] or {})}".rstrip()
    print_report(rule, f"Taken back: {call}", as_json=as_json)


def _describe(rule: dict[str, Any]) -> str:
    """Return the name and the conditions of a rule."""
    conditions = [rule["tool"] if rule["tool"] != "*" else "any tool"]
    conditions += [f"kind {', '.join(rule['kinds'])}"] if rule["kinds"] else []
    conditions += [f"{name} matches {pattern}" for name, pattern in rule["arguments"].items()]
    conditions += [f"arguments are {rule['exact']}"] if rule["exact"] else []
    conditions += [f"agent {rule['agent']}"] if rule["agent"] != "*" else []
    conditions += [f"mode {', '.join(rule['modes'])}"] if rule["modes"] else []
    conditions += [f"owner {rule['owner']}"] if rule["owner"] else []
    return f"{rule['name']}: {'; '.join(conditions)}" if rule["name"] else "; ".join(conditions)


async def _check(files: list[Path], workspace: Path | None) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return the problems of the files, and the number of rules in each."""
    with without_logs("dovetail.policy.file", "dovetail.app", AGENT_FILES):
        return await _check_quietly(files, workspace)


async def _check_quietly(
    files: list[Path], workspace: Path | None
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    async with Dovetail(workspace=workspace) as dovetail:
        chosen = [_open(path) for path in files] or list(_find_files(dovetail))
        broken = [each for _, file in chosen for each in file.find_problems()]
        policy = Policy(sources=[file for _, file in chosen])
        tools = dovetail.get_tool_registry().snapshot().tools
        known = {name: _list_arguments(tool) for name, tool in tools.items()}
        arguments = {**dict.fromkeys(dovetail.list_reserved_names()), **known}
        doubts = find_doubts(policy, arguments, list_callers(dovetail))
    problems = [_read_problem("broken", str(error)) for error in broken]
    numbers = {show_path(path): 0 if file.find_problems() else file.count() for path, file in chosen}
    return [*problems, *(_read_problem("notice", text) for text in doubts)], numbers


def _open(path: Path) -> tuple[Path, PolicyFile]:
    if not path.is_file():
        raise ConfigError(f"Policy file not found: {path}")
    return path, PolicyFile(path, may_allow=path.resolve().parent.parent.name != "extensions")


def _find_files(dovetail: Dovetail) -> Iterable[tuple[Path, PolicyFile]]:
    """Yield the files that apply to the workspace, also those of folders that cannot be loaded."""
    own = dovetail.workspace / POLICY
    if own.exists() or own.is_symlink():
        yield own, PolicyFile(own)
    for path in sorted(dovetail.workspace.glob(f"extensions/*/{POLICY}")):
        yield path, PolicyFile(path, may_allow=False)
    remembered = open_remembered(dovetail.workspace)
    if remembered.path.exists():
        yield remembered.path, remembered


def _list_arguments(tool: Tool) -> list[str] | None:
    properties = tool.parameters.get("properties")
    is_open = tool.parameters.get("additionalProperties", True) is not False and tool.takes is None
    return None if is_open or not is_mapping(properties) else list(properties)


def _read_problem(kind: str, text: str) -> dict[str, Any]:
    """Return a problem as data; its text begins with the file and often the line."""
    place = _PLACE.fullmatch(text)
    if place is None:
        return {"kind": kind, "path": None, "line": None, "message": text}
    path, line = show_path(Path(place["path"])), place["line"]
    return {"kind": kind, "path": path, "line": int(line) if line else None, "message": place["text"]}


def _show_problems(problems: list[dict[str, Any]]) -> None:
    for each in problems:
        place = (
            f"{each['path']}:{each['line']}: "
            if each["line"]
            else f"{each['path']}: "
            if each["path"]
            else ""
        )
        console.print(f"[{_STYLES[each['kind']]}]{each['kind']}[/] ", end="")
        console.print(f"{place}{each['message']}", markup=False)
