"""Which paths are the interface, and which are the page."""

_KEPT = ("/api/", "/ai/", "/v1/", "/metrics", "/openapi.json")


def is_kept(path: str) -> bool:
    """Whether a path belongs to the interface: keys and limits hold for it."""
    return path.startswith(_KEPT)
