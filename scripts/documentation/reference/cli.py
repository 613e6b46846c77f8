"""docs/reference/cli.md: every command with its arguments and options, as `--help` shows them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_origin

import typer

from documentation.markdown import block, code, head, join, table
from dovetail.cli.main import GROUPS, build_app

INTRODUCTION = """\
`dovetail --help` lists the commands, `dovetail <command> --help` shows the options of one. [Exit
codes](../terminal.md#exit-codes) are the same for all commands.
"""


def write() -> str:
    """Return the page."""
    root = typer.main.get_command(build_app(None))
    return join(
        head("Command line", "src/dovetail/cli", INTRODUCTION),
        _describe_options(root),
        table(
            ["Command", "Does"], ((f"[`{name}`](#dovetail-{name})", text) for name, text in GROUPS.items())
        ),
        *(part for name in GROUPS for part in _describe_group(name)),
    )


def _describe_group(name: str) -> Iterator[str]:
    root: Any = typer.main.get_command(build_app(name))
    group = root.commands[name]
    commands: dict[str, Any] = getattr(group, "commands", {})
    yield _describe_command(f"dovetail {name}", group, level=2)
    for inner, command in commands.items():
        yield _describe_command(f"dovetail {name} {inner}", command, level=3)


def _describe_command(name: str, command: Any, level: int) -> str:
    if command.hidden:
        return ""
    is_group = hasattr(command, "commands") and not command.invoke_without_command
    return join(
        f"{'#' * level} {name}",
        _clean_help(command.help or ""),
        "" if is_group else block("bash", f"{name} {_show_usage(command)}".strip()),
        "" if is_group else _describe_arguments(command) + "\n\n" + _describe_options(command),
    )


def _clean_help(text: str) -> str:
    """Return a help text without the line breaks and marks that are for terminals only."""
    return "\n\n".join(" ".join(part.split()) for part in text.replace("\b", "").split("\n\n"))


def _show_usage(command: Any) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = any(param.param_type_name == "option" and not param.hidden for param in command.params)
    shown = (f"<{param.name}>" + ("..." if param.nargs == -1 else "") for param in arguments)
    words = [word if param.required else f"[{word}]" for param, word in zip(arguments, shown, strict=True)]
    return " ".join(["[options]", *words] if options else words)


def _describe_arguments(command: Any) -> str:
    rows = (
        (code(param.name), _show_default(param), param.help or "")
        for param in command.params
        if param.param_type_name == "argument"
    )
    return table(["Argument", "Default", "Meaning"], rows)


def _describe_options(command: Any) -> str:
    rows = (
        (_show_option(param), _show_default(param), _show_meaning(param))
        for param in command.params
        if param.param_type_name == "option" and not param.hidden
    )
    return table(["Option", "Default", "Meaning"], rows)


def _show_option(param: Any) -> str:
    names = ", ".join(code(name) for name in [*param.opts, *param.secondary_opts])
    if param.is_flag:
        return names
    value = param.metavar or _name_type(param)
    return f"{names} {code(value)}" + (" (may be repeated)" if param.multiple else "")


def _name_type(param: Any) -> str:
    annotation = param.type_descriptor.annotation
    names = {str: "text", int: "number", float: "number", Path: "path", bool: "true or false"}
    if get_origin(annotation) is Literal:
        return "<choice>"
    return f"<{names.get(annotation, getattr(annotation, '__name__', 'text').lower())}>"


def _show_default(param: Any) -> str:
    if param.required:
        return "required"
    value = None if callable(param.default) or param.default in (None, False, [], ()) else param.default
    return "" if value is None else code(str(getattr(value, "value", value)))


def _show_meaning(param: Any) -> str:
    variable = f" Environment: {code(param.envvar)}." if param.envvar else ""
    return f"{param.help or ''}{variable}"
