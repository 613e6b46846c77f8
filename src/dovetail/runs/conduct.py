"""One run from its work to its end: whatever happens, it ends exactly once."""

import asyncio
import logging

from dovetail.errors import CancelledRunError, DovetailError
from dovetail.messages.context import within
from dovetail.messages.event import RunEnd
from dovetail.runs.failure import describe_error
from dovetail.runs.live import LiveRun
from dovetail.runs.persist import persist
from dovetail.runs.replay import Replay
from dovetail.runs.run import Job, RunContext, RunOutcome
from dovetail.store.database import Keep

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
        outcome = _judge(live, outcome)
        live.journal.close_calls()
        await _end(live, outcome, await _keep(context, job, outcome))
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


async def _keep(context: RunContext, job: Job, outcome: RunOutcome) -> Keep | None:
    on_end = job.on_end
    return None if on_end is None else await persist(lambda: on_end(context, outcome))


async def _end(live: LiveRun, outcome: RunOutcome, keep: Keep | None) -> None:
    event = RunEnd(outcome.reason, outcome.result, live.journal.usage, outcome.error)
    await persist(lambda: live.desk.writer.end(live.journal, event, keep))
    live.done.set_result(_judge(live, outcome))


def _judge(live: LiveRun, outcome: RunOutcome) -> RunOutcome:
    """The outcome, unless something of the run could not be stored."""
    if live.failure is None:
        return outcome
    return RunOutcome(reason="error", usage=outcome.usage, error=describe_error(live.failure))
