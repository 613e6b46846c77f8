"""Names of tools: what model providers accept, and free ones for tools whose own name is taken."""

import re
from collections.abc import Container

from dovetail.errors import ConfigError

LONGEST_NAME = 64
_NAME = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST_NAME}}}")


def is_callable_name(name: str) -> bool:
    """Whether model providers accept the name for a tool, and so for an agent that is called as one."""
    return _NAME.fullmatch(name) is not None


def check_name(name: str) -> None:
    """Refuse a name that model providers refuse, and with it every request that offers the tool.

    Raises:
        ConfigError: the name is empty, too long or has other characters.
    """
    if not is_callable_name(name):
        raise ConfigError(
            f"Invalid tool name {name!r}: it must be 1 to {LONGEST_NAME} letters (a-z), digits, _ or -",
            hint="Model providers refuse other names. Choose one: make_tool(function, name='my_tool').",
        )


def find_free_name(name: str, taken: Container[str]) -> str:
    """The nearest name that model providers accept and that is not taken."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:LONGEST_NAME] or "tool"
    free, number = name, 2
    while free in taken:
        ending = f"_{number}"
        free, number = f"{name[: LONGEST_NAME - len(ending)]}{ending}", number + 1
    return free


def rename(origin: str, name: str, taken: Container[str]) -> str:
    """A free name for a tool whose own is taken: the name of its origin before its own."""
    return find_free_name(f"{origin.rpartition(':')[2]}_{name}", taken)
