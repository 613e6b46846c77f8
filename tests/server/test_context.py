"""What a tool can find out about the request it works for."""

from pathlib import Path
from typing import Any

from dovetail.events.call import Kind
from dovetail.tools import get_request_context, make_tool
from serving import serve

CALL = {"tool_calls": [{"call_id": "c", "name": "look"}]}
IDS = ("owner", "session_id", "run_id", "agent", "call_id", "tab_id", "skills")
SKILL = "---\nname: tidy\ndescription: Tidy up.\n---\nPut things away.\n"


def watch(seen: list[dict[str, Any]]) -> Any:
    def look() -> str:
        """Look around, in a thread."""
        context = get_request_context()
        assert context is not None
        seen.append({name: getattr(context, name) for name in IDS})
        return "seen"

    return make_tool(look, kind=Kind.Read)


async def test_a_tool_of_a_chat_knows_session_run_call_tab_owner_and_skills(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    (tmp_path / "skills" / "tidy").mkdir(parents=True)
    (tmp_path / "skills" / "tidy" / "SKILL.md").write_text(SKILL)
    keys = {"server": {"api_keys": "ann:one"}}
    async with serve(tmp_path, [CALL, "Done."], [watch(seen)], settings=keys) as server:
        server.client.headers["authorization"] = "Bearer one"
        chunks = await server.chat("/skill/tidy please")
    [context] = seen
    run_id = chunks[0]["messageMetadata"]["run_id"]
    wanted = {"owner": "ann", "session_id": "s", "run_id": run_id, "agent": "master", "call_id": "c"}
    assert context | wanted | {"tab_id": "t", "skills": ("tidy",)} == context


async def test_a_tool_called_directly_knows_its_caller_and_call(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    async with serve(tmp_path, tools=[watch(seen)]) as server:
        answer = await server.client.post("/api/v1/tools/look/call", json={})
    assert seen[0]["call_id"] == answer.json()["call_id"]
    assert (seen[0]["owner"], seen[0]["run_id"]) == ("local", None)
