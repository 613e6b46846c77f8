"""Which paths are the interface, and which are the page."""

_KEPT = ("/api/", "/ai/", "/v1/", "/metrics", "/openapi.json")

PAGE = "/{path:path}"
"""The route of the page, which takes every path that no other route takes."""


def is_kept(path: str) -> bool:
    """Whether a path belongs to the interface: keys and limits hold for it."""
    return path.startswith(_KEPT)
