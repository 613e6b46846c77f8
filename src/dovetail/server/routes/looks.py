"""The files that extension folders bring for the page: `/ext/<folder>/<digest>/<file>`.

The digest names the contents: a browser can keep a file without asking again, and all processes serve the
same code at an address. Only folders in service are served; a process that has not reloaded reads the disk.
`/ext/<folder>/current/<file>` leads to the version in service, for links that are kept in chats.
"""

import asyncio
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from dovetail.app import Dovetail
from dovetail.errors import NotFoundError
from dovetail.extensions.extension import ExtensionSnapshot
from dovetail.extensions.web_files import TYPES, WebFiles, read_web_files
from dovetail.server.schemas import App

router = APIRouter(include_in_schema=False)

_YEAR = "private, max-age=31536000, immutable"
_CURRENT = "current"
"""The digest of links that always lead to the version in service."""


@router.api_route("/ext/{folder}/{digest}/{path:path}", methods=["GET", "HEAD"], response_class=Response)
async def get_file(folder: str, digest: str, path: str, app: App) -> Response:
    """Return a file of a folder in service."""
    files = await _find_version(app, folder, digest)
    if files is None or path not in files.files:
        raise NotFoundError(
            f"Extension folder {folder!r} has no file 'web/{path}' in version {digest!r}.",
            hint="The field `web` of GET /api/v1/extensions has the current addresses.",
        )
    if digest == _CURRENT:
        address = quote(f"/ext/{folder}/{files.digest}/{path}")
        return RedirectResponse(address, headers={"cache-control": "no-cache"})
    kind = TYPES[PurePosixPath(path).suffix]
    return Response(files.files[path], headers={"content-type": kind, "cache-control": _YEAR})


async def _find_version(app: Dovetail, name: str, digest: str) -> WebFiles | None:
    """Return the folder's files with this digest: those in service, otherwise those on the disk."""
    snapshot = app.extensions.snapshot
    files = snapshot.web.get(name)
    if files is not None and digest in (files.digest, _CURRENT):
        return files
    folder = _find_folder(snapshot, name)
    found = await asyncio.to_thread(read_web_files, folder) if folder is not None else None
    return found if found is not None and found.digest == digest else None


def _find_folder(snapshot: ExtensionSnapshot, name: str) -> Path | None:
    return next((folder for folder in snapshot.folders if folder.name == name), None)


def list_looks(snapshot: ExtensionSnapshot) -> dict[str, Any]:
    """Return the addresses of the modules and style sheets that the page loads, by folder."""
    return {
        name: [quote(f"/ext/{name}/{files.digest}/{file}") for file in (*files.styles, *files.modules)]
        for name, files in snapshot.web.items()
        if files.modules
    }
