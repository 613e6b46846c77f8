"""docs/reference/python: the public names of each package, with signatures and docstrings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import griffe

from documentation.markdown import block, code, head, join, table
from documentation.reference.source import (
    WIDTH,
    find,
    list_members,
    load_package,
    read_docstring,
    show_signature,
)

FIRST = ("", "agent", "agents", "tools", "events", "errors")
"""The places below `dovetail` that come first: a name is described where it is first exported."""
FORMER = ("bus", "messages", "subagents")
"""Former names of packages, which only re-export."""

INTRODUCTION = "The names that programs may import from `{path}`; modules inside of it may change."


@dataclass(frozen=True)
class PublicName:
    """A name where it is first exported: other packages that export it refer to this place."""

    path: str
    page: str
    member: griffe.Object

    @property
    def anchor(self) -> str:
        return f"{self.page}.md#{self.path}"


def write_all() -> dict[str, str]:
    """Return the pages by their file names."""
    names = {package: exported for package in _list_packages() if (exported := _list_exports(package))}
    public: dict[str, PublicName] = {}
    for package, exported in names.items():
        for name in exported:
            member = find(_join(package, name))
            public.setdefault(member.path, PublicName(f"{_path(package)}.{name}", _path(package), member))
    return {f"{_path(package)}.md": _write_page(package, names[package], public) for package in names}


def _write_page(package: str, names: list[str], public: Mapping[str, PublicName]) -> str:
    path = _path(package)
    module = find(package) if package else load_package()
    found = [(name, public[find(_join(package, name)).path]) for name in names]
    rows = (
        (f"[{code(name)}]({one.anchor})", first_sentence(read_docstring(one.member))) for name, one in found
    )
    return join(
        head(path, "the source", read_docstring(module), INTRODUCTION.format(path=path)),
        table(["Name", "What it is"], rows),
        *(_describe(one, public) for _, one in found if one.page == path),
    )


def _path(package: str) -> str:
    return _join("dovetail", package)


def _join(package: str, name: str) -> str:
    return ".".join(filter(None, [package, name]))


def _list_packages() -> list[str]:
    """Return all packages that say what they export, and the module of the errors."""
    packages = sorted(name for name, module in load_package().modules.items() if module.exports)
    return [*FIRST, *(package for package in packages if package not in {*FIRST, *FORMER})]


def _list_exports(package: str) -> list[str]:
    module = find(package) if package else load_package()
    if module.exports is not None:
        return [str(name) for name in module.exports if name != "__version__"]
    return [name for name, member in module.members.items() if isinstance(member, griffe.Class)]


def first_sentence(text: str) -> str:
    """Return the first paragraph of a docstring as one line that ends with a full stop."""
    first = " ".join(text.partition("\n\n")[0].split())
    return first if not first or first.endswith((".", ":")) else f"{first}."


def _describe(one: PublicName, public: Mapping[str, PublicName]) -> str:
    heading = f'<a id="{one.path}"></a>\n\n## {code(one.path.removeprefix(one.page + "."))}'
    if isinstance(one.member, griffe.Function):
        return join(heading, block("py", show_signature(one.member)), read_docstring(one.member))
    if isinstance(one.member, griffe.Class):
        return join(heading, *_describe_class(one.member, public))
    value = getattr(one.member, "value", None)
    shown = block("py", f"{one.member.name} = {value}") if value else ""
    return join(heading, shown, read_docstring(one.member))


def _describe_class(member: griffe.Class, public: Mapping[str, PublicName]) -> Iterator[str]:
    bases = f"({', '.join(str(base) for base in member.bases)})" if member.bases else ""
    start = f"class {member.name}{bases}"
    found = (place.members.get("__init__") for place in (member, *member.mro()))
    init = next((one for one in found if isinstance(one, griffe.Function)), None)
    call = show_signature(init, member.name, is_method=True) if init else ""
    call = call.removeprefix("def ").removesuffix(" -> None")
    yield block("py", f"{start if len(start) <= WIDTH else f'class {member.name}'}\n\n{call}")
    yield read_docstring(member)
    inherited = [public[base.path] for base in member.mro() if base.path in public]
    if inherited:
        links = (f"[{code(one.path.rpartition('.')[2])}]({one.anchor})" for one in inherited)
        yield f"Also has what these have: {', '.join(links)}."
    members = list(list_members(member, public))
    yield table(["Field", "Type", "Default", "Meaning"], _list_fields(members))
    for _, method in members:
        if isinstance(method, griffe.Function) and method.docstring:
            yield block("py", show_signature(method, is_method=True))
            yield read_docstring(method)


def _list_fields(members: list[tuple[str, griffe.Object]]) -> Iterator[tuple[str, str, str, str]]:
    """Return the fields that need a line: those with a docstring, and constants."""
    for name, field in members:
        if not isinstance(field, griffe.Attribute) or not {"property", "class-attribute"} & field.labels:
            continue
        meaning = first_sentence(read_docstring(field))
        hint = "" if field.annotation is None else code(str(field.annotation))
        value = "" if field.value is None or "property" in field.labels else code(str(field.value))
        if meaning or not hint:
            yield code(name), hint, value, meaning
