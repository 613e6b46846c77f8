"""The prompt library: list the prompts of the workspace, and render one with values for its variables."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from dovetail.prompts.library import describe_problem, describe_prompt
from dovetail.server.schemas import App, RenderBody

router = APIRouter(prefix="/api/v1/prompts", tags=["catalog"])


@router.get("")
async def list_prompts(app: App) -> dict[str, Any]:
    """List the prompts with their variables, and the files that are invalid."""
    return {
        "prompts": [describe_prompt(prompt) for prompt in app.prompts.list()],
        "errors": [describe_problem(problem) for problem in app.prompts.problems],
    }


@router.post("/{name}/render")
async def render_prompt(name: str, body: RenderBody, app: App) -> dict[str, Any]:
    """Return a prompt as text and as messages; a variable without a default needs a value."""
    return asdict(app.prompts.get(name).render(body.variables))
