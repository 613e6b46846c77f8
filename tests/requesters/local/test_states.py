"""What chats begin with is read once, and restored when the model is loaded again."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.events.delta import FinishDelta
from dovetail.requesters.local import states
from dovetail.requesters.local.llama import Slot
from dovetail.requesters.local.requester import LocalRequester

pytestmark = pytest.mark.slow

SYSTEM = "You know oak, ash and elm. " * 9
ADD = ToolSpec(name="add", description="Add two numbers.", parameters={"type": "object"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(states, "find_folder", lambda: tmp_path / "prompts")
    return tmp_path / "prompts"


@pytest.fixture
async def open_model(small_weights: Path, tmp_path: Path) -> AsyncIterator[LocalRequester]:
    """A model under a path of its own: an agent of another test may still have the weights loaded."""
    weights = tmp_path / small_weights.name
    weights.symlink_to(small_weights)
    requester = LocalRequester(weights, "local:small")
    requester.chooses_tools = True
    yield requester
    await requester.close()


def ask(text: str, *tools: ToolSpec) -> ModelRequest:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
    return ModelRequest(messages=messages, tools=tools, options={"max_tokens": 4})


def list_states(folder: Path) -> dict[str, int]:
    """Return the time of each state by its name, which begins with the number of its slot."""
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def make_states(folder: Path, *names: str) -> None:
    """Write empty states, each older than the one before."""
    folder.mkdir()
    for place, name in enumerate(names):
        (folder / f"{name}.state").touch()
        os.utime(folder / f"{name}.state", (1000 - place, 1000 - place))


async def count_cached(model: LocalRequester, request: ModelRequest) -> int:
    """Return how many tokens of a request had been read before."""
    finish = [delta async for delta in model.stream(request)][-1]
    assert isinstance(finish, FinishDelta)
    return finish.usage.cached_tokens


async def test_what_was_read_ahead_is_restored_when_the_model_is_loaded_again(
    folder: Path, open_model: LocalRequester
) -> None:
    assert await count_cached(open_model, ask("Which is hard?")) == 0
    await open_model.close()
    await open_model.warm_up(ask("Hello"))
    assert [int(name[0]) for name in list_states(folder)] == [Slot.ANSWER]
    await open_model.close()
    assert await count_cached(open_model, ask("Which is hard?")) > 60


async def test_reading_ahead_with_tools_keeps_the_list_and_the_examples_too(
    folder: Path, open_model: LocalRequester
) -> None:
    await open_model.warm_up(ask("Hello", ADD))
    kept = list_states(folder)
    assert {int(name[0]) for name in kept} == {Slot.ANSWER, Slot.CHOICE, Slot.FIT}
    await open_model.warm_up(ask("Hello", ADD))
    assert list_states(folder) == kept


async def test_a_program_keeps_the_list_and_the_examples_but_not_its_question(
    folder: Path, open_model: LocalRequester
) -> None:
    await count_cached(open_model, ask("Add 2 and 3, for the zebras in the zoo of Berlin.", ADD))
    kept = {name: (folder / name).stat().st_size for name in list_states(folder)}
    assert {int(name[0]) for name in kept} >= {Slot.CHOICE}
    await open_model.close()
    assert await count_cached(open_model, ask("Add 4 and 5.", ADD)) > 60
    await open_model.close()
    for name in kept:
        (folder / name).unlink()
    await open_model.warm_up(ask("Hello", ADD))
    assert {name: (folder / name).stat().st_size for name in kept} == kept


async def test_a_choice_does_not_push_out_what_the_answer_has_read(
    folder: Path, open_model: LocalRequester
) -> None:
    await count_cached(open_model, ask("Which is hard?"))
    read = await count_cached(open_model, ask("Which is soft?"))
    assert await count_cached(open_model, ask("Which is soft?", ADD)) >= read


async def test_a_broken_state_is_removed_and_the_text_read_again(
    folder: Path, open_model: LocalRequester
) -> None:
    await open_model.warm_up(ask("Hello"))
    await open_model.close()
    for name in list_states(folder):
        os.truncate(folder / name, 1000)
    assert await count_cached(open_model, ask("Which is hard?")) == 0
    assert list_states(folder) == {}
    await open_model.warm_up(ask("Hello"))


async def test_a_broken_state_that_cannot_be_removed_does_not_stop_the_answer(
    folder: Path, open_model: LocalRequester, monkeypatch: pytest.MonkeyPatch
) -> None:
    await open_model.warm_up(ask("Hello"))
    await open_model.close()
    for name in list_states(folder):
        os.truncate(folder / name, 1000)

    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(Path, "unlink", refuse)
    assert await count_cached(open_model, ask("Which is hard?")) == 0


async def test_a_folder_that_cannot_be_written_keeps_nothing_and_breaks_nothing(
    folder: Path, open_model: LocalRequester
) -> None:
    os.close(os.open(folder, os.O_CREAT))  # a file
    await open_model.warm_up(ask("Hello"))
    assert await count_cached(open_model, ask("Which is hard?")) > 0


async def test_the_states_used_longest_ago_are_removed(
    folder: Path, open_model: LocalRequester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "MOST_STATES", 2)
    make_states(folder, "old", "older", "oldest")
    await open_model.warm_up(ask("Hello"))
    assert len(list_states(folder)) == 2
    assert "old.state" in list_states(folder)
