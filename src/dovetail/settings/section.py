"""A section of the settings: keys with their types, defaults and descriptions.

A section is a class whose annotated attributes are its keys; a docstring after a key describes it:

    class ServerSettings(Section, key="server"):
        rate_limit: Count = 600
        '''Requests per minute.'''

Instances are frozen and hold checked values only.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeGuard, dataclass_transform, get_args, get_origin

from dovetail.data.shapes import is_mapping
from dovetail.data.text import expected_one_of, find_nearest, shorten
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.settings.value import accepts_none, check_value, describe_type, is_secret, join

secrets = lazy("dovetail.data.secrets")

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""The default of a table without entries."""

_REQUIRED = object()
_PLACEHOLDER = "${"


class Key:
    """One key of a section: its name, type and default."""

    def __init__(self, name: str, hint: Any, default: Any) -> None:
        self.name = name
        self.hint = hint
        self.default = default

    @property
    def section(self) -> "type[Section] | None":
        """The section that the key holds, or that each entry of its table is."""
        kind = get_args(self.hint)[-1] if get_origin(self.hint) is Mapping else self.hint
        return kind if is_section(kind) else None

    @property
    def is_table(self) -> bool:
        """Whether the key holds entries under names of the user's choice."""
        return get_origin(self.hint) is Mapping


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Section:
    """Keys that belong together, with their values."""

    key: ClassVar[str] = ""
    """Where the section is in the settings."""

    is_open: ClassVar[bool] = False
    """Whether it may hold further keys; one that is nearly a known key is an error all the same."""

    given: frozenset[str]
    """The keys that have a value of their own, in contrast to a default."""

    def __init_subclass__(cls, *, key: str = "", is_open: bool = False) -> None:
        cls.key, cls.is_open = key, is_open

    def __init__(self, **values: Any) -> None:
        known = keys_of(type(self))
        missing = [key.name for key in known.values() if key.default is _REQUIRED and key.name not in values]
        if missing or not values.keys() <= known.keys():
            wrong = ", ".join(missing or sorted(values.keys() - known.keys()))
            raise TypeError(f"{type(self).__name__}: missing or unknown keys: {wrong}")
        defaults = {name: key.default for name, key in known.items()}
        self.__dict__.update({**defaults, **values, "given": frozenset(values)})

    @classmethod
    def read(cls, values: Any, place: str = "") -> Self:
        """Return the section with these values, checked; `place` is its key in the settings.

        Raises:
            ConfigError: it has no such key, a value is of a wrong type, or a required one is missing.
        """
        place = place or cls.key
        check_keys(cls, values, place)
        known = keys_of(cls)
        found: dict[str, Any] = {}
        for name, value in values.items():
            key = known.get(name)
            if key is not None and (value is not None or accepts_none(key.hint)):
                found[name] = check_value(value, key.hint, join(place, name))
        for name, key in known.items():
            if key.default is _REQUIRED and name not in found:
                raise ConfigError(f"Missing setting '{join(place, name)}': {describe_type(key.hint)}.")
        return cls(**found)

    @classmethod
    def of(cls, settings: Any) -> Self:
        """Return the section with the values that settings hold at its key."""
        return cls.read(settings.get(cls.key) or {})

    def to_dict(self) -> dict[str, Any]:
        """Return the values as plain data: sections and tables as dicts, sequences as lists."""
        return {name: _to_plain(getattr(self, name)) for name in keys_of(type(self))}

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; change the settings instead")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == getattr(other, "to_dict")()  # noqa: B009

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = (f"{name}={_show(getattr(self, name), key)}" for name, key in keys_of(type(self)).items())
        return f"{type(self).__name__}({', '.join(values)})"


def is_section(kind: object) -> TypeGuard[type[Section]]:
    """Whether a type is a section."""
    return isinstance(kind, type) and issubclass(kind, Section)


@lru_cache(maxsize=100)
def keys_of(section: type[Section]) -> Mapping[str, Key]:
    """Return the keys of a section by name, inherited ones first."""
    found: dict[str, Key] = {}
    for base in reversed(section.__mro__):
        if is_section(base) and base is not Section:
            for name, hint in base.__annotations__.items():
                found[name] = Key(name, hint, vars(base).get(name, _REQUIRED))
    return found


def check_path(
    section: type[Section], names: Sequence[str], value: Any, place: str = "", *, has_value: bool = True
) -> None:
    """Check a key below a section and its value: its type, or the keys and values in it if it is a section.

    Without `has_value` it is one item of the value, and only keys are checked.

    Raises:
        ConfigError: a key is unknown, and the message names the nearest one; or a value is of a wrong type.
    """
    if not names:
        return None if value is None else check_keys(section, value, place)
    place = join(place, names[0])
    key = find_key(section, names[0], place)
    if key is None:
        return
    inner = key.section
    if inner is None:
        _check_leaf(value if has_value else None, key, names[1:], place)
    elif not key.is_table:
        check_path(inner, names[1:], value, place, has_value=has_value)
    elif len(names) > 1:
        check_path(inner, names[2:], value, join(place, names[1]), has_value=has_value)
    elif is_mapping(value):
        for name, entry in value.items():
            check_keys(inner, entry, join(place, name))


def _check_leaf(value: Any, key: Key, below: Sequence[str], place: str) -> None:
    """Check the value of a key; below a table's name anything goes, and the environment may fill it later."""
    if not below and value is not None and _PLACEHOLDER not in repr(value):
        check_value(value, key.hint, place)


def check_keys(section: type[Section], values: Any, place: str) -> None:
    """Check the keys of a mapping for a section, and of the sections in it.

    Raises:
        ConfigError: it is not a mapping, or a key is unknown; the message names the nearest one.
    """
    if not is_mapping(values):
        meant = isinstance(values, str) and "name" in keys_of(section)
        hint = f" Did you mean '{place}.name'?" if meant else ""
        raise ConfigError(f"{place} must be a table, got {shorten(values)}.{hint}")
    for name, value in values.items():
        check_path(section, [str(name)], value, place)


def find_key(section: type[Section], name: str, place: str) -> Key | None:
    """Return the key of a section by name; None for a further key of an open section.

    Raises:
        ConfigError: the key is unknown.
    """
    known = keys_of(section)
    if name in known:
        return known[name]
    near = find_near(name, section)
    if near:
        raise ConfigError(f"Unknown setting {place!r}. Did you mean '{place.removesuffix(name)}{near}'?")
    if section.is_open:
        return None
    raise ConfigError(f"Unknown setting {place!r}. {expected_one_of(known)}")


def find_hint(section: type[Section], key: str) -> Any:
    """Return the type of a dotted key."""
    first, _, rest = key.partition(".")
    found = keys_of(section)[first]
    return found.hint if found.section is None else find_hint(found.section, rest)


@lru_cache(maxsize=1000)
def find_near(name: str, section: type[Section]) -> str | None:
    """Return the key that a misspelt name stands for, if any."""
    cutoff = 0.8 if section.is_open else 0.6
    return next(iter(find_nearest(name, keys_of(section), cutoff=cutoff)), None)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Section):
        return value.to_dict()
    if is_mapping(value):
        return {name: _to_plain(each) for name, each in value.items()}
    return [*value] if isinstance(value, tuple) else value


def _show(value: Any, key: Key) -> str:
    return secrets.MASK if value and is_secret(key.hint) else repr(value)
