"""One run from its work to its end: whatever happens, it ends exactly once."""

import asyncio
import logging

from dovetail.errors import CancelledRunError, DovetailError, NotFoundError
from dovetail.messages.context import within
from dovetail.messages.event import RunEnd
from dovetail.runs.failure import describe_error
from dovetail.runs.live import LiveRun
from dovetail.runs.persist import persist
from dovetail.runs.replay import Replay
from dovetail.runs.run import Job, RunContext, RunOutcome

logger = logging.getLogger(__name__)


async def conduct(live: LiveRun, job: Job, done: Replay) -> None:
    """Do the work, keep what must be kept, end the run; a run that is left to others ends there."""
    spec = live.spec
    with within(run_id=live.run_id, session_id=spec.session_id, owner=spec.owner, agent=spec.agent):
        await _conduct(live, job, done)


async def _conduct(live: LiveRun, job: Job, done: Replay) -> None:
    context = live.context(done)
    try:
        outcome = await _work(context, job)
        if outcome is None:
            live.done.cancel()
            return
        live.journal.close_calls()
        await _keep(context, job, outcome)
        await _end(live, outcome)
    except asyncio.CancelledError:
        live.done.cancel()
        raise
    except Exception:
        # Not even its end could be stored: whoever takes the run up will find it as it was.
        logger.exception("run %s could not be ended", live.run_id)
        live.done.cancel()


async def interrupt(context: RunContext) -> RunOutcome:
    """The work of a run that cannot be continued."""
    told = {"type": "interrupted", "message": "the server was restarted and could not go on with this answer"}
    return RunOutcome(reason="interrupted", error=told)


async def _work(context: RunContext, job: Job) -> RunOutcome | None:
    try:
        return await job.work(context)
    except asyncio.CancelledError:
        if context.is_abandoned():
            raise
        return RunOutcome(reason="cancelled")
    except CancelledRunError:
        return RunOutcome(reason="cancelled")
    except Exception as error:
        if context.is_abandoned():
            return None
        if not isinstance(error, DovetailError):
            logger.exception("run %s failed", context.run_id)
        return RunOutcome(reason="error", error=describe_error(error))


async def _keep(context: RunContext, job: Job, outcome: RunOutcome) -> None:
    on_end = job.on_end
    if on_end is not None:
        try:
            await persist(lambda: on_end(context, outcome))
        except NotFoundError as error:
            logger.warning("run %s has nobody left to tell: %s", context.run_id, error.message)


async def _end(live: LiveRun, outcome: RunOutcome) -> None:
    await persist(lambda: live.desk.asks.store.close_run(live.run_id))
    event = RunEnd(outcome.reason, outcome.result, live.journal.usage, outcome.error)
    live.journal.append(event, (live.run_id,))
    await persist(live.settle)
    live.done.set_result(outcome)
