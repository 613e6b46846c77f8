"""The extension folders that ship, loaded as the app loads them, in a workspace of their own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dovetail.extensions import ExtensionLoader, ExtensionSnapshot

SHIPPED = Path(__file__).parent.parent.parent / "extensions"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The workspace of the tools under test; beside it lies something secret."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


@pytest.fixture
async def shipped(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ExtensionSnapshot]:
    """All shipped folders, also the one that is left out by default."""
    monkeypatch.setenv("EXTENSION_EXCLUDED_EXTENSIONS", "")
    monkeypatch.delenv("EXTENSION_EXCLUDED_TOOLS", raising=False)
    loader = ExtensionLoader(SHIPPED, workspace=workspace)
    yield await loader.reload()
    await loader.close()
