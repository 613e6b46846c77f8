"""The catalog: tools, agents, skills, models and extension folders."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ConfigDict, Field
from starlette.responses import Response

from dovetail.agents.catalog import list_rule_problems, list_tool_problems
from dovetail.agents.definition import AgentDefinition
from dovetail.agents.prepare import equip_agent
from dovetail.app import Dovetail
from dovetail.data.text import explain_unknown
from dovetail.errors import NotFoundError
from dovetail.events.call import ToolCall
from dovetail.events.run_context import RunContext
from dovetail.ids import new_id
from dovetail.policy.mode import choose_mode
from dovetail.policy.rule import Mode
from dovetail.prompts.library import describe_problem
from dovetail.server.auth import NEEDS_ADMIN
from dovetail.server.responses import JsonResponse
from dovetail.server.routes.looks import list_looks
from dovetail.server.schemas import App, Body, GivenId, Owner
from dovetail.server.tool_trial import start_trial
from dovetail.tools.pipeline.approve import describe_trial
from dovetail.tools.result import describe_outcome
from dovetail.tools.tool import Tool

router = APIRouter(prefix="/api/v1", tags=["catalog"])


class CallBody(Body):
    """The arguments of a tool call."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"arguments": {"expression": "6 * 7"}},
                {"arguments": {"path": "notes.txt", "content": "oak"}, "tab_id": "tab-1"},
            ]
        }
    )
    arguments: dict[str, Any] = Field(default={})
    tab_id: str | None = Field(default=None, min_length=1, max_length=200)


@router.get("/tools")
async def list_tools(
    app: App, owner: Owner, agent: GivenId | None = None, mode: GivenId | None = None
) -> dict[str, Any]:
    """List the tools of the newest generation, and the MCP servers that could not be reached.

    With `agent` only those that this agent can use in a chat of the caller: what the policy denies in this
    `mode`, by default that of the settings, is left out.
    """
    snapshot = app.tools.snapshot()
    tools = snapshot if agent is None else _find_usable(app, agent, choose_mode(app.settings, mode), owner)
    return {
        "generation": snapshot.generation,
        "tools": [_describe_tool(tool) for tool in tools],
        "errors": [{"source": f"mcp:{name}", "message": text} for name, text in app.mcp.problems.items()],
    }


@router.post("/tools/{name}/call", response_class=JsonResponse)
async def call_tool(name: str, body: CallBody, app: App, owner: Owner) -> Response:
    """Call a tool through the pipeline; calls that need an approval are denied.

    With `tab_id` a person is there to be asked: the call is a run (202), which names its questions in its
    events and has the outcome as its result.
    """
    snapshot = app.tools.snapshot()
    if name not in snapshot:
        raise NotFoundError(explain_unknown("tool", name, snapshot.tools))
    call = ToolCall(call_id=new_id("call"), name=name, arguments=body.arguments)
    if body.tab_id is not None:
        trial = await start_trial(app, snapshot, call, body.tab_id, owner)
        return JsonResponse({"run_id": trial.run_id, "call_id": call.call_id}, 202)
    scope = RunContext(owner=owner, bus=app.runtime.active_bus, mode=choose_mode(app.settings))
    return JsonResponse(describe_outcome(await app.runtime.runner.run_call(snapshot, call, scope)))


@router.get("/agents")
async def list_agents(app: App) -> dict[str, Any]:
    """List the agents, the files that could not be read, and notices about tools that do not exist."""
    definitions = app.agents.get_all_definitions()
    return {
        "agents": [
            {
                "name": definition.name,
                "title": definition.display_name or definition.name,
                "description": definition.description,
                "model": definition.model_config.model,
                "tools": list(_name_tools(definition)),
                "source": definition.source,
            }
            for definition in definitions
        ],
        "disabled": [definition.name for definition in app.agents.get_disabled()],
        "errors": [{"path": broken.path, "message": broken.error} for broken in app.agents.broken],
        "notices": list_tool_problems(app, app.extensions.snapshot.missing_extensions),
    }


@router.get("/skills")
async def list_skills(app: App) -> dict[str, Any]:
    """List the skills of the workspace, and the files that could not be read."""
    return {
        "skills": [
            {
                "name": skill.name,
                "description": skill.description,
                "scope": skill.scope,
                "path": str(skill.path),
                "allowed_tools": skill.allowed_tools,
            }
            for skill in app.skills.list()
        ],
        "errors": [{"path": str(each.path), "message": each.message} for each in app.skills.problems],
    }


@router.get("/models")
async def list_models(app: App, request: Request) -> dict[str, Any]:
    """List the models, the one that new runs use, and the progress of downloads."""
    return {"models": await asyncio.to_thread(request.app.state.models.describe)}


@router.get("/extensions")
async def get_extensions(app: App) -> Mapping[str, Any]:
    """Return the result of the last load of the extension folders."""
    return {**_describe_reload(app), "watching": app.is_watching}


@router.post("/extensions/reload", dependencies=[NEEDS_ADMIN])
async def reload_extensions(app: App) -> Mapping[str, Any]:
    """Reload the extension folders, agent files, skills, prompts and policies."""
    await app.reload()
    return _describe_reload(app)


def _describe_reload(app: Dovetail) -> dict[str, Any]:
    """Return the last reload: the extension folders, the changed agents, and the files with errors."""
    snapshot = app.extensions.snapshot
    reported = [failure.file for failure in snapshot.failed_extensions]
    skills = [{"path": str(each.path), "error": each.message} for each in app.skills.problems]
    policy = [
        {"path": each.path, "error": each.error, "keeps_last_good": each.keeps_last_good}
        for each in app.runtime.policy.problems
        if each.path not in reported
    ]
    notices = list_rule_problems(app, app.list_reserved_names())
    return {
        **snapshot.to_dict(),
        "web": list_looks(snapshot),
        "agents": app.agents.report.to_dict(),
        "skills": {"failed": skills},
        "prompts": {"failed": [describe_problem(each) for each in app.prompts.problems]},
        "policy": {"failed": policy, "notices": notices},
    }


def _find_usable(app: Dovetail, agent: str, mode: Mode, owner: str) -> list[Tool]:
    """Return the tools of an agent without those that are refused, whatever it calls them with."""
    tools, completion = equip_agent(app, app.agents.get_definition(agent))
    decide = app.runtime.policy.decide
    return [
        tool
        for tool in tools
        if tool.name != completion
        and decide(describe_trial(tool, {}, (agent,), mode, owner)).action != "deny"
    ]


def _name_tools(definition: AgentDefinition) -> Sequence[str]:
    config = definition.tool_config
    return ("*",) if config.names is None else (*config.names, *(tool.name for tool in config.own))


def _describe_tool(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "kind": tool.kind.value,
        "origin": tool.origin,
        "tags": list(tool.tags),
        "needs_tab": tool.needs_tab,
        "parameters": tool.parameters,
    }
