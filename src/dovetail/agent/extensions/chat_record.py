"""What a chat session records of a request and its answer: whole slots, or values at paths."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self, TypeAlias

from dovetail.agent.base import BaseAgent
from dovetail.data.paths import PathStyle, dot_to_slash, get_path, slash_to_dot
from dovetail.data.shapes import is_blank, is_list, is_mapping, is_tuple
from dovetail.data.text import explain_choices, shorten
from dovetail.errors import ConfigError
from dovetail.prompt.yaml_text import to_block_text
from dovetail.settings import Settings

RecordMode: TypeAlias = Literal["first", "all"]

InputPath: TypeAlias = tuple[str, str | None]
"""A slot, or a dotted path that begins with one, and the path inside of it if only a part is recorded."""

RecordInput: TypeAlias = str | tuple[str, str | None] | list[Any]
"""A slot, a slot and the path inside of it, or a list of these."""


def read_input_paths(paths: Iterable[Any], style: PathStyle = "dot") -> list[InputPath]:
    """Normalize paths of a request: each once, with dots."""
    found: dict[InputPath, None] = {}
    for path in paths:
        if _is_pair(path):
            slot, inside = path
            found[_to_dots(slot), _to_dots(inside, style) if inside else None] = None
        elif is_list(path):
            found.update(dict.fromkeys(read_input_paths(path, style)))
        else:
            found[_to_dots(path, style), None] = None
    return list(found)


def read_output_paths(paths: Iterable[Any], style: PathStyle = "dot") -> list[str]:
    """Normalize paths of an answer: each once, with dots."""
    found: dict[str, None] = {}
    for path in paths:
        several = read_output_paths(path, style) if is_list(path) else [_to_dots(path, style)]
        found.update(dict.fromkeys(several))
    return list(found)


def write_input_paths(paths: Iterable[InputPath], style: PathStyle) -> list[InputPath]:
    """Return normalized paths of a request in a style."""
    return [(slot, dot_to_slash(inside) if inside and style == "slash" else inside) for slot, inside in paths]


def write_output_paths(paths: Iterable[str], style: PathStyle) -> list[str]:
    """Return normalized paths of an answer in a style."""
    return [dot_to_slash(path) if style == "slash" else path for path in paths]


def check_mode(mode: Any) -> RecordMode:
    """Return the mode if it is valid.

    Raises:
        ConfigError: the mode is unknown.
    """
    if mode == "first" or mode == "all":
        return mode
    raise ConfigError(explain_choices("record mode", mode, ("first", "all")))


def record_input(data: Any, paths: Sequence[InputPath], mode: RecordMode) -> str | None:
    """Return parts of a request as one text: the first that has a value, or all as YAML; None if none has."""
    found: dict[str, Any] = {}
    for slot, inside in paths:
        value = get_path(data, slot)
        if inside is not None:
            value = get_path(value, inside)
        if mode == "first":
            if not is_blank(value):
                return str(value) if inside is None else write_value(value)
        elif inside is None:
            found[slot] = value
        elif not is_blank(value):
            found[slot] = _add_part(found.get(slot), inside, value)
    if all(value is None for value in found.values()):
        return None
    return write_value(found)


def record_output(data: Any, paths: Sequence[str], mode: RecordMode) -> str | None:
    """Return parts of an answer as one text: the first that has a value, or all as YAML; None if none has."""
    found: dict[str, Any] = {}
    for path in paths:
        value = get_path(data, path)
        if not is_blank(value):
            if mode == "first":
                return write_value(value)
            found[path] = value
    return write_value(found) if found else None


def write_value(value: Any) -> str:
    """Return mappings and lists as YAML, everything else as its text."""
    return to_block_text(value)


def _add_part(slot: Any, path: str, value: Any) -> Any:
    if slot is not None and not is_mapping(slot):
        return slot  # recorded whole, with this part in it
    return {**(slot or {}), path: value}


def _is_pair(path: Any) -> bool:
    """Return whether this is a slot with a path inside it."""
    return is_tuple(path) and len(path) == 2


def _to_dots(path: Any, style: PathStyle = "dot") -> str:
    if not isinstance(path, str) or not path:
        raise ConfigError(
            f"A record path must be text such as 'input' or 'info.user.name', got {shorten(path)}."
        )
    if style == "slash" and "/" in path:
        return slash_to_dot(f"/{path.removeprefix('/')}")
    return slash_to_dot(path) if path.startswith("/") else path


class RecordPathsExtension(BaseAgent):
    """The settings `record_input_paths`, `record_output_paths`, `record_input_mode` and `record_output_mode`.

    A path of the request is a slot, or a tuple of a slot and a dotted path inside of it; one of the answer is
    a dotted path in its data. With `style="slash"` paths are written with slashes.
    """

    def set_record_input_paths(self, *paths: RecordInput, style: PathStyle = "dot") -> Self:
        """Record these parts of the request instead of the whole input.

        >>> agent = ChatSessionExtension().set_record_input_paths("info", ("input", "question"))
        >>> agent.get_record_input_paths()
        [('info', None), ('input', 'question')]
        """
        return self.set_settings("record_input_paths", read_input_paths(paths, style))

    def add_record_input_paths(self, *paths: RecordInput, style: PathStyle = "dot") -> Self:
        """Record these parts of the request, too.

        >>> agent = ChatSessionExtension().set_record_input_paths("info")
        >>> agent.add_record_input_paths(("input", "/rows/[0]"), style="slash").get_record_input_paths()
        [('info', None), ('input', 'rows[0]')]
        """
        return self.set_record_input_paths(*self.get_record_input_paths(), *read_input_paths(paths, style))

    def add_record_input_path(self, slot: str, path: str | None = None, *, style: PathStyle = "dot") -> Self:
        """Record this slot of the request, too, or the value at a path in it.

        >>> ChatSessionExtension().add_record_input_path("input", "question").get_record_input_paths()
        [('input', 'question')]
        """
        return self.add_record_input_paths((slot, path), style=style)

    def clean_record_input_paths(self) -> Self:
        """Record the whole input again.

        >>> agent = ChatSessionExtension().set_record_input_paths("info")
        >>> agent.clean_record_input_paths().get_record_input_paths()
        []
        """
        return self.set_settings("record_input_paths", [])

    def get_record_input_paths(self, *, style: PathStyle = "dot") -> list[InputPath]:
        """Return the recorded parts of the request, each as its slot and the path inside it, if any.

        >>> agent = ChatSessionExtension().set_record_input_paths(("input", "rows[0].id"))
        >>> agent.get_record_input_paths(style="slash")
        [('input', '/rows/[0]/id')]
        """
        return write_input_paths(get_input_paths(self.settings), style)

    def set_record_output_paths(self, *paths: str | list[str], style: PathStyle = "dot") -> Self:
        """Record these parts of the answer's data instead of the whole text.

        >>> agent = ChatSessionExtension().set_record_output_paths("why")
        >>> session_id = agent.activate_chat_session("ann")
        >>> data = agent.input("A wood?").output({"wood": (str,), "why": (str,)}).start()
        >>> print(agent.agent_prompt["chat_history"][-1]["content"].strip())
        why: hard
        """
        return self.set_settings("record_output_paths", read_output_paths(paths, style))

    def add_record_output_paths(self, *paths: str | list[str], style: PathStyle = "dot") -> Self:
        """Record these parts of the answer's data, too.

        >>> agent = ChatSessionExtension().set_record_output_paths("wood")
        >>> agent.add_record_output_paths("why", "price").get_record_output_paths()
        ['wood', 'why', 'price']
        """
        return self.set_record_output_paths(*self.get_record_output_paths(), *read_output_paths(paths, style))

    def add_record_output_path(self, path: str, *, style: PathStyle = "dot") -> Self:
        """Record this part of the answer's data, too.

        >>> agent = ChatSessionExtension().add_record_output_path("/rows/[0]", style="slash")
        >>> agent.get_record_output_paths()
        ['rows[0]']
        """
        return self.add_record_output_paths(path, style=style)

    def clean_record_output_paths(self) -> Self:
        """Record the whole answer again.

        >>> agent = ChatSessionExtension().set_record_output_paths("wood")
        >>> agent.clean_record_output_paths().get_record_output_paths()
        []
        """
        return self.set_settings("record_output_paths", [])

    def get_record_output_paths(self, *, style: PathStyle = "dot") -> list[str]:
        """Return the recorded parts of the answer's data.

        >>> agent = ChatSessionExtension().set_record_output_paths(["wood", "rows[0].id"])
        >>> agent.get_record_output_paths(style="slash")
        ['/wood', '/rows/[0]/id']
        """
        return write_output_paths(get_output_paths(self.settings), style)

    def set_record_input_mode(self, mode: Literal["first", "all"]) -> Self:
        """Record the first of the input paths that has a value, or all of them.

        >>> agent = ChatSessionExtension().set_record_input_paths("instruct", "input")
        >>> session_id = agent.set_record_input_mode("first").activate_chat_session("ann")
        >>> answer = agent.input("A wood for doors?").start()
        >>> agent.agent_prompt["chat_history"][0]["content"]
        'A wood for doors?'
        """
        return self.set_settings("record_input_mode", check_mode(mode))

    def set_record_output_mode(self, mode: Literal["first", "all"]) -> Self:
        """Record the first of the output paths that has a value, or all of them.

        >>> agent = ChatSessionExtension().set_record_output_paths("summary", "why")
        >>> session_id = agent.set_record_output_mode("first").activate_chat_session("ann")
        >>> data = agent.input("A wood?").output({"wood": (str,), "why": (str,)}).start()
        >>> agent.agent_prompt["chat_history"][-1]["content"]
        'hard'
        """
        return self.set_settings("record_output_mode", check_mode(mode))


def get_input_paths(settings: Settings) -> list[InputPath]:
    """Return the parts of a request that the settings name; a pair may be a list, as in TOML and JSON."""
    paths: list[Any] = _as_list(settings.get("record_input_paths"))
    return read_input_paths(tuple(path) if is_list(path) and len(path) == 2 else path for path in paths)


def get_output_paths(settings: Settings) -> list[str]:
    """Return the parts of an answer that the settings name."""
    return read_output_paths(_as_list(settings.get("record_output_paths")))


def get_mode(settings: Settings, kind: Literal["input", "output"]) -> RecordMode:
    """Return the record mode of the settings."""
    return check_mode(settings.get(f"record_{kind}_mode") or "all")


def _as_list(value: Any) -> list[Any]:
    if is_list(value):
        return value
    return [value] if isinstance(value, str) or is_tuple(value) else []
