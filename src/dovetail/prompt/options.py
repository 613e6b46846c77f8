"""Render options from the settings: titles of blocks and names of roles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.settings import DEFAULTS, Settings

_TITLES: dict[str, str] = DEFAULTS["prompt"]["prompt_title_mapping"]


class Roles(dict[str, str]):
    """Role names by role; `_` is the name of history roles without their own."""

    def __missing__(self, role: str) -> str:
        return self.get("_", role)


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """Resolved titles and roles."""

    titles: dict[str, str]
    roles: Roles

    def with_roles(self, roles: Mapping[str, str] | None) -> "RenderOptions":
        """Return the options with some roles renamed; a value that is not a mapping is ignored."""
        return (
            RenderOptions(self.titles, Roles({**self.roles, **roles}))
            if roles and is_mapping(roles)
            else self
        )


def resolve_options(settings: Settings | None) -> RenderOptions:
    """Return the options in the settings; without settings, the default ones."""
    if settings is None:
        return _DEFAULT
    return settings.compute(_read_options)


def _read_options(settings: Settings) -> RenderOptions:
    return _make_options(settings.get("prompt.prompt_title_mapping"), settings.get("prompt.role_mapping"))


def _make_options(titles: Any, roles: Any) -> RenderOptions:
    names = {**_TITLES, **titles} if is_mapping(titles) else _TITLES
    return RenderOptions(
        {slot: f"[{title}]" for slot, title in names.items()},
        Roles(roles if is_mapping(roles) else {}),
    )


_DEFAULT = _make_options(_TITLES, DEFAULTS["prompt"]["role_mapping"])
