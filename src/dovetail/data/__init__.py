"""Layered data, paths, templates and text; no knowledge of agents."""

from typing import TYPE_CHECKING

from dovetail.data.sanitize import sanitize  # at once: the module of that name would take its place
from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.data.layered import LayeredData
    from dovetail.data.paths import dot_to_slash, get_path, slash_to_dot

__all__ = ["LayeredData", "dot_to_slash", "get_path", "sanitize", "slash_to_dot"]

__getattr__ = lazy_exports(
    __name__,
    {
        "LayeredData": "dovetail.data.layered",
        "dot_to_slash": "dovetail.data.paths",
        "get_path": "dovetail.data.paths",
        "slash_to_dot": "dovetail.data.paths",
    },
)
