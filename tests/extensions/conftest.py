"""A root for extension folders, and an environment that excludes nothing."""

from pathlib import Path

import pytest

from extension_folders import Folders


@pytest.fixture(autouse=True)
def _open_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EXTENSION_EXCLUDED_EXTENSIONS", "EXTENSION_EXCLUDED_TOOLS", "WORKSPACE_ROOT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """The root `extensions/` of a test."""
    root = tmp_path / "extensions"
    root.mkdir()
    return Folders(root)
