"""The notice of the end of a task in the background, as the model of the session above it reads it."""

import logging
from typing import Any

from dovetail.agents.definition import AgentDefinition
from dovetail.agents.task_tool import TASKS
from dovetail.data.text import to_text
from dovetail.events.run_result import RunResult
from dovetail.sessions.message import Session

logger = logging.getLogger(__name__)
LONGEST_RESULT = 8_000
"""The most characters of a result that its notice holds."""


def write_notice(session: Session, definition: AgentDefinition | None, result: RunResult) -> str:
    """Return which task has ended, how, and its result, cut if it is long."""
    how = {"goal": "is done", "cancelled": "was cancelled"}.get(result.reason, f"ended by {result.reason}")
    lines = [f"[Background task {session.id!r} (agent {session.agent!r}) {how}.]"]
    if result.notice:
        lines.append(result.notice)
    if result.error is not None:
        lines.append(f"Error: {result.error.get('message', '')}")
    if result.value is not None and (text := _write_result(definition, result)):
        lines.append(f"{'Result' if result.reason == 'goal' else 'Its last text'}:\n{_cut(text, session.id)}")
    return "\n".join(lines)


def _write_result(definition: AgentDefinition | None, result: RunResult) -> str:
    process = definition.process_output if definition is not None else None
    value: Any = result.value
    if process is None or result.reason != "goal":
        return to_text(value)
    try:
        return to_text(process(value))
    except Exception:
        logger.exception("`process_output` failed; the notice has the result as it is")
        return to_text(value)


def _cut(text: str, task_id: str) -> str:
    left = len(text) - LONGEST_RESULT
    if left <= 0:
        return text
    hint = f'{TASKS} with {{"action": "read", "task_id": "{task_id}"}}'
    return f"{text[:LONGEST_RESULT]}\n[{left} more characters: read the whole result with {hint}.]"
