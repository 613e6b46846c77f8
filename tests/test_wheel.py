"""What a user needs is inside the wheel."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_wheel_holds_the_web_client_the_extension_folders_the_agent_files_and_the_templates(
    tmp_path: Path,
) -> None:
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(tmp_path),
        str(ROOT),
    ]
    built = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert built.returncode == 0, built.stdout + built.stderr
    [wheel] = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    shipped = {"extensions/weather/extension.py", "extensions/README.md", "agents/master.md"}
    project = "templates/projects/support-desk"
    shipped |= {
        f"{project}/extensions/desk/web/show_order.js",
        f"{project}/.gitignore",
        "templates/parts/SKILL.md",
    }
    if (ROOT / "web" / "dist").is_dir():
        shipped.add("web/index.html")
    assert {f"dovetail/assets/{name}" for name in shipped} <= names
    assert "dovetail/py.typed" in names
    assert not any("__pycache__" in name or "/tests/" in name for name in names)
