"""The page: the built web client if installed, otherwise a small built-in page."""

from collections.abc import Mapping
from mimetypes import guess_type
from pathlib import Path

from fastapi import APIRouter
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from dovetail.errors import ConfigError
from dovetail.server.errors import PAGE
from dovetail.server.middleware.compress import accepts
from dovetail.server.middleware.security import DIAGRAM_POLICY

_BUILT_IN = Path(__file__).parent / "plain_page"
_DIAGRAMS = {"content-security-policy": DIAGRAM_POLICY, "x-frame-options": "SAMEORIGIN"}
"""The headers of the hidden frame in which the page has diagrams drawn."""
_COMPRESSED = {"br": ".br", "gzip": ".gz"}
"""The encodings in which the build leaves files next to each other, the smallest first."""
_YEAR = "public, max-age=31536000, immutable"


def check_page(folder: Path) -> Path:
    """Return the folder of a page.

    Raises:
        ConfigError: it is not the folder of a built page.
    """
    if not (folder / "index.html").is_file():
        missing = "does not exist" if not folder.is_dir() else "has no index.html"
        raise ConfigError(
            f"Cannot serve a page from {str(folder)!r}: the folder {missing}.",
            hint="Name the folder of a finished page, such as the output of its build.",
        )
    return folder


def make_page_router(web: Path | None) -> APIRouter:
    """Serve the files of `web`; every other path that does not name a file leads to its index.

    A client that accepts the encoding gets `main.js.br` or `main.js.gz` for `main.js`.
    """
    folder = (web or _BUILT_IN).resolve()
    router = APIRouter(include_in_schema=False)

    @router.api_route(PAGE, methods=["GET", "HEAD"], response_class=Response)
    async def get_file(path: str, request: Request) -> Response:
        if path.startswith(("api/", "ai/", "v1/", "ext/")):
            raise HTTPException(404, "Not found")
        if (file := _find_file(folder, path)) is not None:
            is_hashed = path.startswith("assets/")
            policy = _DIAGRAMS if path == "diagram.html" else {}
            return _send_file(
                file, request.headers, {"cache-control": _YEAR if is_hashed else "no-cache", **policy}
            )
        if "." in path.rpartition("/")[2]:
            raise HTTPException(404, "Not found")
        return _send_file(folder / "index.html", request.headers, {"cache-control": "no-cache"})

    return router


def _find_file(folder: Path, path: str) -> Path | None:
    """Return the file at a path, if it is a file inside the folder."""
    try:
        file = (folder / path).resolve()
        return file if file.is_relative_to(folder) and file.is_file() else None
    except (OSError, ValueError):  # a name that no file system takes
        return None


def _send_file(file: Path, asked: Headers, headers: Mapping[str, str]) -> Response:
    """Return a file as it is compressed next to it, or as it is; each has an `ETag` of its own."""
    headers = {**headers, "vary": "Accept-Encoding"}
    kind = guess_type(file.name)[0]
    for encoding, suffix in _COMPRESSED.items():
        if accepts(encoding, asked) and (smaller := _find_file(file.parent, file.name + suffix)) is not None:
            return FileResponse(smaller, headers={**headers, "content-encoding": encoding}, media_type=kind)
    return FileResponse(file, headers=headers, media_type=kind)
