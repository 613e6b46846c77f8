"""The size limit of results: a large one is stored as an artifact, and the model reads on in it."""

from dataclasses import replace
from typing import Any

from dovetail.errors import ToolError
from dovetail.events.call import Kind
from dovetail.events.run_context import RunContext
from dovetail.events.tool_context import ToolContext
from dovetail.tools.artifacts import ArtifactStore
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool, ToolResult

LIMIT = 30_000
BEGINNING = 4_000
LONGEST_PAGE = 20_000


class ResultLimiter:
    """Keep results within `limit` characters: larger ones are stored as artifacts."""

    def __init__(self, store: ArtifactStore, limit: int = LIMIT) -> None:
        self._store = store
        self._limit = limit

    def fits(self, result: ToolResult, run: RunContext) -> bool:
        """Whether the result is small enough; media do not count."""
        content = result.llm_content
        limit = self._limit if run.largest_result is None else run.largest_result
        if isinstance(content, str):
            return len(content) <= limit
        return sum(len(str(part.get("text", ""))) for part in content) <= limit

    async def keep(self, result: ToolResult, run: RunContext) -> ToolResult:
        """Store the text of a large result; return a result with its beginning and its media."""
        content = result.llm_content
        media: list[dict[str, Any]] = []
        if isinstance(content, str):
            text = content
        else:
            text = "\n".join(str(part["text"]) for part in content if "text" in part)
            media = [part for part in content if "text" not in part]
        artifact_id = await self._store.put(text, owner=run.owner)
        shown = _describe(text, artifact_id)
        data = {"artifact_id": artifact_id, "characters": len(text), "beginning": text[:BEGINNING]}
        return replace(
            result, llm_content=[{"type": "text", "text": shown}, *media] if media else shown, data=data
        )


def make_reader(store: ArtifactStore) -> Tool:
    """Return the tool with which a model reads more of an artifact."""

    async def read_artifact(
        context: ToolContext, artifact_id: str, offset: int = 0, length: int = LONGEST_PAGE // 2
    ) -> str:
        """Read on in a large result that was kept as an artifact.

        Args:
            artifact_id: The id that the result named.
            offset: The number of characters to skip.
            length: How many characters to read, at most 20000.
        """
        offset, length = max(offset, 0), min(max(length, 1), LONGEST_PAGE)
        page = await store.read(artifact_id, owner=context.scope.owner, offset=offset, length=length)
        if page is None:
            raise ToolError(f"Unknown artifact {artifact_id!r}.", type="artifact_not_found")
        end = page.offset + len(page.text)
        rest = f"continue with offset={end}" if end < page.total else "this is the end"
        return f"{page.text}\n\n[Characters {page.offset} to {end} of {page.total}; {rest}.]"

    return make_tool(read_artifact, kind=Kind.Read, origin="built-in", idempotent=True)


def _describe(text: str, artifact_id: str) -> str:
    return (
        f"{text[:BEGINNING]}\n\n[The result has {len(text)} characters; these are the first {BEGINNING}. "
        f"All of it is kept: read on with read_artifact, artifact_id={artifact_id!r}, offset={BEGINNING}.]"
    )
