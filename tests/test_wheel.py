"""What a user needs is inside the wheel, and the source package builds the same one."""

import email
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from dovetail import __version__
from patience import PATIENCE

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Packages:
    """The contents by name: of the wheel, of the wheel built from the source package, and of the latter."""

    wheel: dict[str, bytes]
    rebuilt: dict[str, bytes]
    source: list[str]


def build(project: Path, folder: Path, target: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    built = subprocess.run(
        command, cwd=project, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    [package] = folder.iterdir()
    return package


def read_wheel(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    new: Callable[[str], Path] = tmp_path_factory.mktemp
    with tarfile.open(build(ROOT, new("source"), "sdist")) as archive:
        archive.extractall(unpacked := new("unpacked"), filter="data")
        names = archive.getnames()
    [project] = unpacked.iterdir()
    wheel = read_wheel(build(ROOT, new("wheel"), "wheel"))
    return Packages(wheel=wheel, rebuilt=read_wheel(build(project, new("rebuilt"), "wheel")), source=names)


def test_wheel_holds_the_web_client_the_extension_folders_the_agent_files_and_the_templates(
    packages: Packages,
) -> None:
    shipped = {"extensions/weather/extension.py", "extensions/README.md", "agents/master.md"}
    project = "templates/projects/support-desk"
    shipped |= {
        f"{project}/extensions/desk/web/show_order.js",
        f"{project}/.gitignore",
        "templates/parts/SKILL.md",
    }
    shipped |= {f"prompts/{file.name}" for file in (ROOT / "prompts").iterdir()}
    if (ROOT / "web" / "dist").is_dir():
        shipped.add("web/index.html")
    assert {f"dovetail/assets/{name}" for name in shipped} <= packages.wheel.keys()
    assert "dovetail/py.typed" in packages.wheel


def test_no_tests_and_no_caches_are_packaged(packages: Packages) -> None:
    for names in (packages.wheel, packages.source):
        assert not [name for name in names if "cache" in name.lower().split("/")[-2] or name.endswith(".pyc")]
        assert not [name for name in names if "/tests/" in name or "node_modules" in name]


def test_source_package_builds_the_same_wheel(packages: Packages) -> None:
    assert packages.rebuilt.keys() == packages.wheel.keys()
    assert [name for name, data in packages.wheel.items() if packages.rebuilt[name] != data] == []


def test_metadata_names_the_version_the_licence_and_the_readme(packages: Packages) -> None:
    [name] = [name for name in packages.wheel if name.endswith(".dist-info/METADATA")]
    metadata = email.message_from_string(packages.wheel[name].decode())
    assert (metadata["Name"], metadata["Version"]) == ("dovetail-agents", __version__)
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_payload() == (ROOT / "README.md").read_text()
