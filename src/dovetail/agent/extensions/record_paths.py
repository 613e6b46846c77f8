"""Which parts of a turn a chat session records, as methods of the agent and as settings."""

from typing import Any, Literal, Self

from dovetail.agent.base import BaseAgent
from dovetail.agent.extensions.chat_record import (
    InputPath,
    PathStyle,
    RecordInput,
    RecordMode,
    check_mode,
    read_input_paths,
    read_output_paths,
    write_input_paths,
    write_output_paths,
)
from dovetail.data.shapes import is_list, is_tuple
from dovetail.settings import Settings


class RecordPathsExtension(BaseAgent):
    """The settings `record_input_paths`, `record_output_paths`, `record_input_mode` and `record_output_mode`.

    A path of the request is a slot, or a tuple of a slot and a dotted path inside of it; one of the answer is
    a dotted path in its data. With `style="slash"` paths are written with slashes.
    """

    def set_record_input_paths(self, *paths: RecordInput, style: PathStyle = "dot") -> Self:
        """Record these parts of the request in place of the whole input."""
        return self.set_settings("record_input_paths", read_input_paths(paths, style))

    def add_record_input_paths(self, *paths: RecordInput, style: PathStyle = "dot") -> Self:
        """Record these parts of the request too."""
        return self.set_record_input_paths(*self.get_record_input_paths(), *read_input_paths(paths, style))

    def add_record_input_path(self, slot: str, path: str | None = None, *, style: PathStyle = "dot") -> Self:
        """Record this slot of the request too, or the value at a path in it."""
        return self.add_record_input_paths((slot, path), style=style)

    def clean_record_input_paths(self) -> Self:
        """Record the whole input again."""
        return self.set_settings("record_input_paths", [])

    def get_record_input_paths(self, *, style: PathStyle = "dot") -> list[InputPath]:
        """The parts of the request that are recorded, each as its slot and the path inside of it if any."""
        return write_input_paths(get_input_paths(self.settings), style)

    def set_record_output_paths(self, *paths: str | list[str], style: PathStyle = "dot") -> Self:
        """Record these parts of the answer's data in place of the whole text."""
        return self.set_settings("record_output_paths", read_output_paths(paths, style))

    def add_record_output_paths(self, *paths: str | list[str], style: PathStyle = "dot") -> Self:
        """Record these parts of the answer's data too."""
        return self.set_record_output_paths(*self.get_record_output_paths(), *read_output_paths(paths, style))

    def add_record_output_path(self, path: str, *, style: PathStyle = "dot") -> Self:
        """Record this part of the answer's data too."""
        return self.add_record_output_paths(path, style=style)

    def clean_record_output_paths(self) -> Self:
        """Record the whole answer again."""
        return self.set_settings("record_output_paths", [])

    def get_record_output_paths(self, *, style: PathStyle = "dot") -> list[str]:
        """The parts of the answer's data that are recorded."""
        return write_output_paths(get_output_paths(self.settings), style)

    def set_record_input_mode(self, mode: Literal["first", "all"]) -> Self:
        """Record the first of the input paths that has a value, or all of them."""
        return self.set_settings("record_input_mode", check_mode(mode))

    def set_record_output_mode(self, mode: Literal["first", "all"]) -> Self:
        """Record the first of the output paths that has a value, or all of them."""
        return self.set_settings("record_output_mode", check_mode(mode))


def get_input_paths(settings: Settings) -> list[InputPath]:
    """The parts of a request that the settings name; a pair may be a list, as TOML and JSON write it."""
    paths: list[Any] = _as_list(settings.get("record_input_paths"))
    return read_input_paths(tuple(path) if is_list(path) and len(path) == 2 else path for path in paths)


def get_output_paths(settings: Settings) -> list[str]:
    """The parts of an answer that the settings name."""
    return read_output_paths(_as_list(settings.get("record_output_paths")))


def get_mode(settings: Settings, kind: Literal["input", "output"]) -> RecordMode:
    """How the settings want the parts to be recorded."""
    return check_mode(settings.get(f"record_{kind}_mode") or "all")


def _as_list(value: Any) -> list[Any]:
    if is_list(value):
        return value
    return [value] if isinstance(value, str) or is_tuple(value) else []
