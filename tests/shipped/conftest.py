"""The shipped extension folders, loaded as the app loads them, in a temporary workspace."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dovetail.extensions import ExtensionLoader, ExtensionSnapshot

SHIPPED = Path(__file__).parent.parent.parent / "extensions"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The workspace of the tools under test, with a secret file next to it."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


@pytest.fixture
async def shipped(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ExtensionSnapshot]:
    """All shipped folders, including the one that is disabled by default."""
    monkeypatch.setenv("EXTENSION_EXCLUDED_EXTENSIONS", "")
    monkeypatch.delenv("EXTENSION_EXCLUDED_TOOLS", raising=False)
    loader = ExtensionLoader(SHIPPED, workspace=workspace)
    yield await loader.reload()
    await loader.close()
