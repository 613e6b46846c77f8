"""Load modules and public names on first use, so that `import dovetail` stays fast."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, ModuleType
from typing import Any

DISTRIBUTION = "dovetail-agents"
"""The name of the installed package; the import name is `dovetail`."""

_REQUIREMENT = re.compile(r"(?P<package>[^;]+?)\s*;.*extra == ['\"](?P<extra>[\w-]+)['\"]")
_OWN = re.compile(rf"{DISTRIBUTION}\[(?P<extras>[^\]]+)\]")


class LazyModule:
    """Stand-in for a module that imports it when an attribute is first read."""

    def __init__(self, name: str, extra: str | None = None) -> None:
        self._name = name
        self._extra = extra
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            self._module = _load(self._name, self._extra)
        value = getattr(self._module, attribute)
        setattr(self, attribute, value)  # the next read does not come here
        return value


def lazy(name: str, extra: str | None = None) -> Any:
    """Return a stand-in for the module `name`; `extra` is the pip extra that installs it."""
    return LazyModule(name, extra)


_metadata = lazy("importlib.metadata")
_shlex = lazy("shlex")
_shutil = lazy("shutil")


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra into this environment.

    It names the packages themselves, so it works wherever Dovetail was installed from.
    """
    try:
        needed: list[str] = _metadata.requires(DISTRIBUTION) or []
    except _metadata.PackageNotFoundError:  # the sources, without an installation
        return install_packages(f".[{extra}]")
    return install_packages(*dict.fromkeys(_list_packages(extra, needed)))


def install_packages(*requirements: str) -> str:
    """Return the command that installs packages into this environment; it works when pasted into a shell.

    Without pip, as in the environments of uv, it calls uv, or installs pip first.
    """
    python = _shlex.quote(sys.executable)
    wanted = _shlex.join(requirements)
    folder = sys.executable.rpartition("/")[0]
    if _shutil.which("pip") == f"{folder}/pip":
        return f"pip install {wanted}"
    if importlib.import_module("importlib.util").find_spec("pip"):
        return f"{python} -m pip install {wanted}"
    if _shutil.which("uv"):
        return f"uv pip install --python {python} {wanted}"
    return f"{python} -m ensurepip && {python} -m pip install {wanted}"


def _list_packages(extra: str, needed: list[str]) -> Iterator[str]:
    """Yield the requirements of an extra; those that it takes from other extras of ours are included."""
    for requirement in map(_REQUIREMENT.fullmatch, needed):
        if requirement is None or requirement["extra"] != extra:
            continue
        if own := _OWN.fullmatch(requirement["package"]):
            for name in own["extras"].split(","):
                yield from _list_packages(name, needed)
        else:
            yield requirement["package"]


def lazy_exports(
    package: str, homes: Mapping[str, str], elsewhere: Mapping[str, str] = MappingProxyType({})
) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that loads each public name from its home on first use.

    Names of `elsewhere` belong to the package that they map to, and importing them from here says so.
    """

    def load(name: str) -> Any:
        if name in elsewhere:  # the text of an AttributeError does not reach a `from … import`
            raise ImportError(
                f"cannot import name {name!r} from {package!r}. "
                f"Write `from {elsewhere[name]} import {name}`.",
                name=package,
            )
        if name not in homes:
            exports = ", ".join(sorted(homes))
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it exports: {exports}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


def _load(name: str, extra: str | None) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if extra is None:
            raise
        missing = error.name or name
        raise ImportError(f"{missing} is needed here and not installed: {install_command(extra)}") from error
