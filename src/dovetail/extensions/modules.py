"""Imports a folder's sources as a package of its own, from memory.

Every import of a folder gets a package name that was never used before, so versions live side by side.
Modules come from the bytes that were read with the folder: a helper that is imported late belongs to the same
version, whatever the disk holds by then, and no bytecode cache can bring back an older one.
"""

import logging
import re
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.readers import FileReader
from importlib.util import decode_source
from itertools import count
from types import CodeType, ModuleType

from dovetail.extensions.folder import ExtensionFolder

_PREFIX = "dovetail_extension_"
_serial = count(1)


class _SourceLoader(InspectLoader):
    """Runs one module from its folder's sources; a folder without `__init__.py` is an empty package."""

    def __init__(self, folder: ExtensionFolder, source: str | None) -> None:
        self._source = b"" if source is None else folder.sources[source]
        self._is_package = source is None or source.endswith("__init__.py")
        self.file = str(folder.path / source) if source else None
        self._path = self.file or str(folder.path / "__init__.py")

    def get_source(self, fullname: str) -> str:
        return decode_source(self._source)

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.file or f"<{fullname}>", "exec", dont_inherit=True)

    def is_package(self, fullname: str) -> bool:
        return self._is_package

    def get_resource_reader(self, fullname: str) -> FileReader:
        return FileReader(SourceFileLoader(fullname, self._path))


class _ExtensionFinder(MetaPathFinder):
    """Finds the modules of the folders that are in use."""

    def __init__(self) -> None:
        self.folders: dict[str, ExtensionFolder] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, *names = fullname.split(".")
        folder = self.folders.get(package)
        if folder is None:
            return None
        source = _find_source(folder, names)
        if source is None and names and not _holds_modules(folder, names):
            return None
        loader = _SourceLoader(folder, source)
        spec = ModuleSpec(fullname, loader, origin=loader.file, is_package=loader.is_package(fullname))
        spec.has_location = loader.file is not None
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(str(folder.path.joinpath(*names)))
        return spec


def _find_source(folder: ExtensionFolder, names: Sequence[str]) -> str | None:
    path = "/".join(names)
    candidates = (f"{path}/__init__.py", f"{path}.py") if path else ("__init__.py",)
    return next((candidate for candidate in candidates if candidate in folder.sources), None)


def _holds_modules(folder: ExtensionFolder, names: Sequence[str]) -> bool:
    start = "/".join(names) + "/"
    return any(source.startswith(start) for source in folder.sources)


_finder = _ExtensionFinder()


def open_package(folder: ExtensionFolder) -> str:
    """Give the folder a package name of its own, under which its modules can be imported."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    package = f"{_PREFIX}{re.sub(r'[^0-9A-Za-z]', '_', folder.name)}_{next(_serial)}"
    _finder.folders[package] = folder
    return package


def show_module_names(text: str) -> str:
    """A text with the modules of folders called as their authors call them: `weather.helper`."""
    return re.sub(rf"\b{_PREFIX}(\w+?)_\d+\b", r"\1", text)


def is_module_of_folder(name: str) -> bool:
    """Whether a module's name is that of one in a folder, there or not."""
    return name.partition(".")[0] in _finder.folders


def purge_package(package: str) -> None:
    """Forget a package: its sources, its modules and the loggers that bear their names."""
    _finder.folders.pop(package, None)
    for registry in (sys.modules, logging.Logger.manager.loggerDict):
        for name in [name for name in list(registry) if name == package or name.startswith(f"{package}.")]:
            registry.pop(name, None)


def list_packages(name: str) -> list[str]:
    """The packages of the versions of one folder that are in memory."""
    return [package for package, folder in _finder.folders.items() if folder.name == name]
