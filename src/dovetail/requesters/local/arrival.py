"""The download of a model that a request needs: it waits for the weights, says so, and explains a failure.

A program shows a progress bar if its standard error is a terminal, otherwise it logs one line.
"""

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from dovetail.errors import DovetailError, ModelError
from dovetail.requesters.local.bar import ProgressBar, announce, count_percent
from dovetail.requesters.local.download import PullProgress, find_shortage, is_running, pull
from dovetail.requesters.local.weights import STAND_IN, Weights

logger = logging.getLogger(__name__)

OTHER_MODEL = "Or use another model: set DOVETAIL_MODEL, for example to openai:gpt-4.1 or ollama:qwen3."

PLACEHOLDERS = (
    f"local:{STAND_IN} answers because local:good is not downloaded. It is a stand-in of 135 million "
    "parameters: its answers are placeholders. Get the real one with `dovetail models pull good`, or set "
    "DOVETAIL_MODEL."
)
"""The notice that the stand-in answers though it was not named."""

NAMED_PLACEHOLDERS = (
    f"local:{STAND_IN} has 135 million parameters: its answers are placeholders. For real ones, name "
    "local:good (`dovetail models pull good`) or another model."
)
"""The notice that the stand-in answers because it was named."""

_arriving: Counter[str] = Counter()
"""The number of requests that wait for a model, by its name."""

_is_shown: ContextVar[bool] = ContextVar("dovetail_download_is_shown", default=False)


@contextmanager
def shown_by_caller() -> Generator[None]:
    """Leave the display of downloads to the caller, who owns the terminal."""
    token = _is_shown.set(True)
    try:
        yield
    finally:
        _is_shown.reset(token)


async def arrive(weights: Weights) -> AsyncGenerator[PullProgress, None]:
    """Download a model, and yield how far it is once per percent; others may download it at the same time.

    Closing the generator stops the download, unless another request waits for it and continues. Too little
    memory or disk is an error before anything is announced.
    """
    if shortage := find_shortage(weights.name):
        raise explain_failure(weights, shortage) from shortage
    bar = _announce(weights)
    _arriving[weights.name] += 1
    steps: asyncio.Queue[PullProgress | None] = asyncio.Queue()
    pulling = asyncio.create_task(pull(weights.name, steps.put_nowait))
    pulling.add_done_callback(lambda _: steps.put_nowait(None))
    shown = -1
    try:
        while (progress := await steps.get()) is not None:
            if bar is not None:
                bar.show(progress)
            percent = count_percent(progress.done, progress.total)
            if percent > shown:
                shown = percent
                yield progress
        await pulling
    except DovetailError as error:
        raise explain_failure(weights, error) from error
    finally:
        pulling.cancel()
        await asyncio.wait([pulling])
        _arriving[weights.name] -= 1
        if bar is not None:
            bar.close()


def _announce(weights: Weights) -> ProgressBar | None:
    """Say that a model is downloaded, unless that was said; return the bar that shows how far it is."""
    if _is_shown.get() or _arriving[weights.name] or is_running(weights.name):
        return None
    if not sys.stderr.isatty():
        logger.warning("%s", announce(weights))
        return None
    bar = ProgressBar(sys.stderr)
    bar.write(f"{announce(weights)}\n")
    return bar


def explain_failure(weights: Weights, error: DovetailError) -> ModelError:
    """Return the error of a request whose model cannot be downloaded: why, and what helps."""
    hint = f"{error.hint}\n{OTHER_MODEL}" if error.hint else OTHER_MODEL
    message = f"Cannot download {weights.model}: {error.message}"
    return ModelError(message, provider="local", hint=hint, remedy="models")
