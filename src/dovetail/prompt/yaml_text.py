"""Values as the YAML text of a prompt block."""

from typing import Any

from dovetail.data.sanitize import PLAIN, sanitize
from dovetail.lazy import lazy

_yaml = lazy("yaml")


def to_block_text(value: Any) -> str:
    """A container as YAML with sorted keys, anything else as its plain text."""
    if type(value) in PLAIN:
        return str(value)
    plain = sanitize(value)
    return dump_yaml(plain) if isinstance(plain, (dict, list, tuple)) else str(plain)


def dump_yaml(plain: Any) -> str:
    """Plain data as YAML: sorted keys, unicode as it is."""
    return _yaml.safe_dump(plain, allow_unicode=True, sort_keys=True)
