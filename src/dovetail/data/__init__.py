"""Layered data (inherit and merge), dot and slash paths, values made serializable."""

from dovetail.data.layered import LayeredData
from dovetail.data.paths import dot_to_slash, get_path, slash_to_dot
from dovetail.data.sanitize import sanitize

__all__ = ["LayeredData", "dot_to_slash", "get_path", "sanitize", "slash_to_dot"]
