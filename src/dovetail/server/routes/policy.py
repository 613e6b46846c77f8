"""The policy: its rules, modes and file, what would happen to a call, and the remembered answers."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from dovetail.agents.catalog import list_rule_problems
from dovetail.app import Dovetail
from dovetail.data.edited_file import FileText
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError, NotFoundError
from dovetail.policy.file import PolicyEditor
from dovetail.policy.inspection import describe_decision, describe_policy, describe_remembered, find_owner
from dovetail.policy.mode import choose_mode, find_freest_mode
from dovetail.policy.remembered import RememberedRules
from dovetail.policy.rule import MODES, PolicyRule
from dovetail.policy.rule_text import read_rule
from dovetail.server.auth import NEEDS_ADMIN, Reach
from dovetail.server.errors import InvalidRequest
from dovetail.server.queries import PolicyFileBody, RuleBody, TryBody
from dovetail.server.schemas import App, Owner, to_iso
from dovetail.tools.pipeline.approve import describe_trial

router = APIRouter(prefix="/api/v1/policy", tags=["policy"])


@router.get("")
async def get_policy(app: App, owner: Reach) -> dict[str, Any]:
    """List the rules in the order in which they are tried, the modes, and the files with errors."""
    policy = app.runtime.policy
    return {
        "rules": describe_policy(policy, owner, app.workspace),
        "mode": choose_mode(app.settings),
        "max_mode": find_freest_mode(app.settings),
        "modes": list(MODES),
        "problems": [asdict(problem) for problem in policy.problems],
        "notices": list_rule_problems(app, app.list_reserved_names()),
    }


@router.post("/try")
async def try_call(body: TryBody, app: App, owner: Owner) -> dict[str, Any]:
    """Explain what would happen to a call of the caller, rule by rule; the call is not made."""
    snapshot = app.tools.snapshot()
    if body.tool not in snapshot:
        raise NotFoundError(explain_unknown("tool", body.tool, snapshot.tools))
    agents = tuple(filter(None, (body.agent or "").split("/")))
    mode = body.mode or choose_mode(app.settings)
    call = describe_trial(snapshot.tools[body.tool], body.arguments, agents, mode, owner)
    return describe_decision(app.runtime.policy, call, app.workspace)


@router.get("/file", dependencies=[NEEDS_ADMIN])
async def get_file(app: App) -> dict[str, Any]:
    """Return the text of the workspace's policy file and its version; this needs the admin."""
    return _describe_text(await asyncio.to_thread(_edit(app).read), app)


@router.put("/file", dependencies=[NEEDS_ADMIN])
async def put_file(body: PolicyFileBody, app: App) -> dict[str, Any]:
    """Replace the workspace's policy file; an invalid text is refused and changes nothing.

    This needs the admin. A `version` that is not the present one is a conflict.
    """
    with _refusing():
        written = await asyncio.to_thread(_edit(app).write, body.text, body.version)
    return await _take_over(written, app)


@router.post("/rules", status_code=201, dependencies=[NEEDS_ADMIN])
async def add_rule(body: RuleBody, app: App) -> dict[str, Any]:
    """Add a rule to the end of the workspace's policy file; this needs the admin."""
    fields = body.model_dump(exclude={"version", "kinds"}) | {"kind": body.kinds}
    with _refusing():
        (rule,) = read_rule(fields)
        written = await asyncio.to_thread(_edit(app).add, rule, body.version)
    return await _take_over(written, app)


@router.delete("/rules/{rule_id}", dependencies=[NEEDS_ADMIN])
async def remove_rule(rule_id: str, app: App) -> dict[str, Any]:
    """Remove a rule from the workspace's policy file by its id; an entry with several tools goes as a whole.

    Comments in front of the entry and after it stay. This needs the admin. A file with an error is refused.
    """
    with _refusing():
        written = await asyncio.to_thread(_edit(app).remove, rule_id)
    return await _take_over(written, app)


@router.get("/modes")
async def list_modes(app: App) -> dict[str, Any]:
    """List the modes that a chat may choose, the strictest first, and the one of chats that choose none."""
    freest = MODES.index(find_freest_mode(app.settings))
    return {"default": choose_mode(app.settings), "modes": list(MODES[: freest + 1])}


@router.get("/remembered")
async def list_remembered(app: App, owner: Reach) -> dict[str, Any]:
    """List what the caller has always allowed, the newest first, with what was taken back."""
    rules = [rule for rule in await _read(app) if owner is None or find_owner(rule) == owner]
    return {"rules": [_describe(rule) for rule in rules]}


@router.delete("/remembered/{rule_id}")
async def undo_remembered(rule_id: str, app: App, owner: Reach) -> dict[str, Any]:
    """Take an answer back: from now on the call needs approval again. The answer stays in the list."""
    for rule in await _read(app):
        if rule.grant and rule.grant.id == rule_id and owner in (None, find_owner(rule)):
            return _describe(await asyncio.to_thread(_get_store(app).undo, rule_id))
    raise NotFoundError(f"Remembered answer {rule_id!r} not found.")


def _edit(app: Dovetail) -> PolicyEditor:
    return PolicyEditor(app.workspace / "policy.toml")


@contextmanager
def _refusing() -> Generator[None]:
    """Make an invalid rule the caller's error: the file is as it was."""
    try:
        yield
    except ConfigError as error:
        raise InvalidRequest(error.message, hint=error.hint) from error


async def _take_over(written: FileText, app: Dovetail) -> dict[str, Any]:
    """Put the new rules in force, in processes that share the database too."""
    app.runtime.policy.reload()
    app.runs.link.announce("reload", "")
    return _describe_text(written, app)


def _describe_text(written: FileText, app: Dovetail) -> dict[str, Any]:
    problems = [each.error for each in app.runtime.policy.problems if each.path == str(_edit(app).path)]
    return {"path": "policy.toml", **asdict(written), "problem": problems[0] if problems else None}


async def _read(app: Dovetail) -> list[PolicyRule]:
    return await asyncio.to_thread(_get_store(app).list_all)


def _get_store(app: Dovetail) -> RememberedRules:
    store = app.runtime.policy.remembered
    if not isinstance(store, RememberedRules):
        raise NotFoundError("This server remembers no answers: its policy has another store.")
    return store


def _describe(rule: PolicyRule) -> dict[str, Any]:
    described = describe_remembered(rule)
    times = {name: to_iso(described[name]) for name in ("given_at", "undone_at")}
    return {**described, **times}
