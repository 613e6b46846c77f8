"""Values as the YAML text of a prompt block: exactly what PyYAML writes, most of it without PyYAML.

Blocks of ordinary text and numbers are written here, many times faster. A block with anything else (text that
needs escapes, odd keys, other classes) goes to PyYAML as a whole; a property test holds the two equal.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail.data.json_data import to_json_data
from dovetail.data.sanitize import PLAIN, sanitize
from dovetail.lazy import lazy
from dovetail.prompt.yaml_scalar import SCALARS, NotOrdinary, is_plain, write_text

_yaml = lazy("yaml")

LONGEST_KEY = 100


def to_block_text(value: Any) -> str:
    """A container as YAML with sorted keys, anything else as its plain text."""
    if type(value) in PLAIN:
        return str(value)
    writer = _WRITERS.get(type(value))
    if writer is not None:
        try:
            lines: list[str] = []
            writer(value, "", "", lines)
            return "\n".join(lines) + "\n"
        except (NotOrdinary, RecursionError):
            pass
    plain = sanitize(value)
    return dump_yaml(plain) if isinstance(plain, (dict, list, tuple, set)) else str(plain)


def dump_yaml(plain: Any) -> str:
    """Plain data as YAML: sorted keys, unicode as it is."""
    try:
        return _yaml.safe_dump(plain, allow_unicode=True, sort_keys=True)
    except _yaml.representer.RepresenterError:  # YAML knows no subclasses of text and numbers
        return _yaml.safe_dump(to_json_data(plain), allow_unicode=True, sort_keys=True)


# A writer takes a container, what already stands on its first line, and the indent of its further lines.
_Writer = Callable[[Any, str, str, list[str]], None]


def _write_mapping(mapping: Mapping[Any, Any], first: str, indent: str, lines: list[str]) -> None:
    if not mapping:
        lines.append(f"{first}{{}}")
    for key, value in _sort(mapping):
        if type(value) is str:
            lines.append(f"{first}{key}: {write_text(value, len(first) + len(key) + 2, indent)}")
        elif type(value) in SCALARS:
            lines.append(f"{first}{key}: {SCALARS[type(value)](value)}")
        else:
            _write_below(f"{first}{key}:", value, indent, lines)
        first = indent


def _sort(mapping: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    if not all(type(key) is str and len(key) <= LONGEST_KEY and is_plain(key) for key in mapping):
        raise NotOrdinary
    return [(key, mapping[key]) for key in sorted(mapping)]


def _write_below(head: str, value: Any, indent: str, lines: list[str]) -> None:
    """A container as the value of a key: on the lines below, a list without further indent."""
    writer = _find_writer(value)
    if not value:
        writer(value, f"{head} ", indent, lines)
        return
    lines.append(head)
    deeper = f"{indent}  " if writer is _write_mapping else indent
    writer(value, deeper, deeper, lines)


def _write_sequence(items: Sequence[Any], first: str, indent: str, lines: list[str]) -> None:
    if not items:
        lines.append(f"{first}[]")
    for item in items:
        if type(item) is str:
            lines.append(f"{first}- {write_text(item, len(first) + 2, indent)}")
        elif type(item) in SCALARS:
            lines.append(f"{first}- {SCALARS[type(item)](item)}")
        else:
            _find_writer(item)(item, f"{first}- ", f"{indent}  ", lines)
        first = indent


def _find_writer(value: Any) -> _Writer:
    writer = _WRITERS.get(type(value))
    if writer is None:
        raise NotOrdinary
    return writer


_WRITERS: dict[Any, _Writer] = {dict: _write_mapping, list: _write_sequence, tuple: _write_sequence}
