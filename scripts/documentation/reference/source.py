"""Reads signatures, annotations and docstrings from the source, so that they look as they were written."""

import ast
import re
import textwrap
from collections.abc import Collection, Iterator
from functools import lru_cache

import griffe

from documentation.stage import ROOT

WIDTH = 84
"""The longest line of code that a page shows without a scroll bar."""

_SECTION = re.compile(r"^(?P<title>Args|Raises|Yields):\n(?P<entries>(?:    [^\n]*(?:\n|\Z))+)", re.MULTILINE)
_NAMED = re.compile(r"^([*\w]+):")
_TREE = re.compile(r"^\* [^\n]*(?:\n  [^\n]*)+", re.MULTILINE)
_SESSION = re.compile(r"^>>> [^\n]*(?:\n[^\n]+)*", re.MULTILINE)
_CODE = re.compile(r"\n\n(?:    [^\n]*(?:\n|\Z)|\n(?=    ))+")


@lru_cache(maxsize=1)
def load_package() -> griffe.Module:
    """Return the package `dovetail` as its source declares it; nothing is imported."""
    loaded = griffe.load(
        "dovetail",
        search_paths=[ROOT / "src"],
        resolve_aliases=True,
        allow_inspection=False,
        try_relative_path=False,
    )
    assert isinstance(loaded, griffe.Module)
    return loaded


def find(path: str) -> griffe.Object:
    """Return what a dotted path below `dovetail` stands for, at the place where it is declared."""
    found = load_package()[path]
    return found.final_target if isinstance(found, griffe.Alias) else found


def list_members(member: griffe.Class, public: Collection[str] = ()) -> Iterator[tuple[str, griffe.Object]]:
    """Return the documented members of a class, with those of bases that no class in `public` describes."""
    described = {
        path
        for base in member.mro()
        if base.path in public
        for path in (base.path, *(further.path for further in base.mro()))
    }
    seen: set[str] = set()
    for place in (member, *(base for base in member.mro() if base.path not in described)):
        for name, found in place.members.items():
            if isinstance(found, griffe.Object) and name not in seen and not name.startswith("_"):
                seen.add(name)
                yield name, found


def read_docstring(member: griffe.Object) -> str:
    """Return the docstring as Markdown: lists of arguments and errors, and blocks of code."""
    if member.docstring is None:
        return ""
    source = member.docstring.source
    margin = len(source) - len(source.lstrip())
    text: str = ast.literal_eval(source.strip())
    lines = (line[margin:] if not line[:margin].strip() else line for line in text.splitlines())
    text = "\n".join(lines).strip()
    text = _TREE.sub(r"```text\n\g<0>\n```", text)
    return _SESSION.sub(r"```pycon\n\g<0>\n```", _CODE.sub(_show_code, _SECTION.sub(_show_section, text)))


def _show_section(section: re.Match[str]) -> str:
    """Return `Args:` or `Raises:` as a list."""
    entries = re.findall(r"^    (\S[^\n]*(?:\n     +[^\n]*)*)", section["entries"], re.MULTILINE)
    rows = (_NAMED.sub(r"`\1`:", " ".join(entry.split())) for entry in entries)
    return f"{section['title']}:\n\n" + "".join(f"- {row}\n" for row in rows)


def _show_code(lines: re.Match[str]) -> str:
    return f"\n\n```py\n{textwrap.dedent(lines[0].strip(chr(10)))}\n```\n"


def show_signature(function: griffe.Function, name: str | None = None, *, is_method: bool = False) -> str:
    """Return `def name(…) -> …`, on several lines if it is long."""
    parameters = _show_parameters(list(function.parameters)[is_method and not _is_static(function) :])
    prefix = "async def " if "async" in function.labels else "def "
    returns = f" -> {function.returns}" if function.returns is not None else ""
    line = f"{prefix}{name or function.name}({', '.join(parameters)}){returns}"
    if len(line) <= WIDTH:
        return line
    rows = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{prefix}{name or function.name}(\n{rows}){returns}"


def _is_static(function: griffe.Function) -> bool:
    return "staticmethod" in function.labels


def _show_parameters(parameters: list[griffe.Parameter]) -> list[str]:
    shown: list[str] = []
    kinds = griffe.ParameterKind
    for position, parameter in enumerate(parameters):
        before = parameters[position - 1].kind if position else None
        if parameter.kind is kinds.keyword_only and before not in (kinds.keyword_only, kinds.var_positional):
            shown.append("*")
        if before is kinds.positional_only and parameter.kind is not kinds.positional_only:
            shown.append("/")
        star = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(
            parameter.kind or kinds.positional_only, ""
        )
        hint = f": {parameter.annotation}" if parameter.annotation is not None else ""
        equals = " = " if hint else "="
        default = f"{equals}{parameter.default}" if parameter.default is not None and not star else ""
        shown.append(f"{star}{parameter.name}{hint}{default}")
    if parameters and parameters[-1].kind is kinds.positional_only:
        shown.append("/")
    return shown
