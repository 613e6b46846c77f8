"""The policy over HTTP: its rules, its file, and what would happen to a call."""

from pathlib import Path
from typing import Any

import pytest

from dovetail import Kind, tool
from serving import serve

PATH = "/api/v1/policy"
KEYS = {"server": {"api_keys": "ann:one-key,bob:two-key", "admin_token": "boss"}}
BOB = {"authorization": "Bearer two-key"}
ADMIN = {**BOB, "x-admin-token": "boss"}


@tool(name="shell", kind=Kind.Execute)
def shell(command: str) -> str:
    """Run a command."""
    return command


async def test_a_rule_is_added_and_decides_at_once(tmp_path: Path) -> None:
    trial: dict[str, Any] = {"tool": "shell", "arguments": {"command": "git status -s"}, "agent": "master"}
    async with serve(tmp_path, tools=[shell]) as server:
        before = (await server.client.post(f"{PATH}/try", json=trial)).json()
        assert (before["action"], before["rule"]["source"]) == ("ask", "built-in")
        rule = {"action": "allow", "tool": "shell", "arguments": {"command": "git status.*"}}
        added = await server.client.post(f"{PATH}/rules", json=rule)
        assert added.status_code == 201, added.text
        after = (await server.client.post(f"{PATH}/try", json=trial)).json()
        assert (after["action"], after["rule"]["path"], after["rule"]["line"]) == ("allow", "policy.toml", 1)
        planned = (await server.client.post(f"{PATH}/try", json={**trial, "mode": "plan"})).json()
        assert planned["action"] == "allow"
        rules = (await server.get(PATH))["rules"]
        assert rules[0]["arguments"] == {"command": "git status.*"}


async def test_the_file_is_changed_only_to_a_valid_text_of_the_present_version(tmp_path: Path) -> None:
    async with serve(tmp_path, tools=[shell]) as server:
        version = (await server.get(f"{PATH}/file"))["version"]
        good = '[[rule]]\naction = "deny"\ntool = "shell"\n'
        written = await server.client.put(f"{PATH}/file", json={"text": good, "version": version})
        assert (written.status_code, written.json()["problem"]) == (200, None)
        late = await server.client.put(f"{PATH}/file", json={"text": "", "version": version})
        assert late.status_code == 409
        bad = {"text": good + "[[rule]]\ntool = 1\n", "version": written.json()["version"]}
        refused = await server.client.put(f"{PATH}/file", json=bad)
        assert refused.status_code == 422
        assert refused.json()["error"]["message"].startswith("policy.toml:4: ")
        assert (tmp_path / "policy.toml").read_text() == good
        tried = (await server.client.post(f"{PATH}/try", json={"tool": "shell"})).json()
        assert tried["action"] == "deny"


async def test_a_rule_is_removed_by_its_id_and_decides_no_more(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('# Ours.\n\n[[rule]]\naction = "deny"\ntool = "shell"\n')
    async with serve(tmp_path, tools=[shell]) as server:
        rules = (await server.get(PATH))["rules"]
        assert [rule["id"] for rule in rules[1:]] == [None] * (len(rules) - 1)
        removed = await server.client.delete(f"{PATH}/rules/{rules[0]['id']}")
        assert (removed.status_code, removed.json()["text"]) == (200, "# Ours.\n")
        tried = (await server.client.post(f"{PATH}/try", json={"tool": "shell"})).json()
        assert (tried["action"], tried["rule"]["source"]) == ("ask", "built-in")
        again = await server.client.delete(f"{PATH}/rules/{rules[0]['id']}")
        assert again.status_code == 404


async def test_a_rule_of_a_file_with_an_error_is_not_removed(tmp_path: Path) -> None:
    good = '[[rule]]\naction = "deny"\ntool = "shell"\n'
    (tmp_path / "policy.toml").write_text(good)
    async with serve(tmp_path, tools=[shell]) as server:
        rule_id = (await server.get(PATH))["rules"][0]["id"]
        (tmp_path / "policy.toml").write_text(f'{good}\n[[rule]]\naction = "forbid"\n')
        refused = await server.client.delete(f"{PATH}/rules/{rule_id}")
        assert refused.status_code == 422
        assert refused.json()["error"]["message"].startswith("policy.toml:5: ")
        assert (tmp_path / "policy.toml").read_text().startswith(good)
        tried = (await server.client.post(f"{PATH}/try", json={"tool": "shell"})).json()
        assert tried["action"] == "deny"


async def test_problems_and_notices_of_files_are_listed(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[[rule]]\naction = "ask"\ntool = "shel"\n')
    async with serve(tmp_path, tools=[shell]) as server:
        (notice,) = (await server.get(PATH))["notices"]
        assert "Unknown tool 'shel'" in notice
        (tmp_path / "policy.toml").write_text("[[rule")
        await server.client.post("/api/v1/extensions/reload")
        (problem,) = (await server.get(PATH))["problems"]
        assert problem["keeps_last_good"] is True
        assert (await server.get(f"{PATH}/file"))["problem"] == problem["error"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"action": "forbid"}, "'allow', 'deny' or 'ask'"),
        ({"action": "deny", "kinds": ["eat"]}, "Unknown kind 'eat'"),
        ({"action": "deny", "arguments": {"command": "("}}, "Invalid pattern '('"),
        ({"action": "deny", "mode": "plan"}, "Unknown field 'mode'"),
    ],
)
async def test_an_invalid_rule_is_refused(tmp_path: Path, body: dict[str, Any], problem: str) -> None:
    async with serve(tmp_path) as server:
        answer = await server.client.post(f"{PATH}/rules", json=body)
        assert answer.status_code == 422
        assert problem in answer.json()["error"]["message"]
        assert not (tmp_path / "policy.toml").exists()


async def test_only_the_admin_edits_and_an_unknown_tool_is_not_found(tmp_path: Path) -> None:
    async with serve(tmp_path, tools=[shell], settings=KEYS) as server:
        new = {"text": "", "version": "x"}
        for answer in (
            await server.client.get(f"{PATH}/file", headers=BOB),
            await server.client.put(f"{PATH}/file", json=new, headers=BOB),
            await server.client.post(f"{PATH}/rules", json={"action": "allow"}, headers=BOB),
            await server.client.delete(f"{PATH}/rules/x", headers=BOB),
        ):
            assert answer.status_code == 403
        assert (await server.client.get(f"{PATH}/file", headers=ADMIN)).status_code == 200
        unknown = await server.client.post(f"{PATH}/try", json={"tool": "shel"}, headers=BOB)
        assert unknown.status_code == 404
        assert "Did you mean 'shell'?" in unknown.json()["error"]["message"]


async def test_without_an_admin_token_the_answers_of_other_owners_stay_theirs(tmp_path: Path) -> None:
    keys = {"server": {"api_keys": "ann:one-key,bob:two-key"}}
    async with serve(tmp_path, settings=keys) as server:
        mine = await server.client.get(f"{PATH}/remembered", headers=BOB)
        assert mine.status_code == 200, mine.text
        for method, path in (("GET", "remembered"), ("DELETE", "remembered/rule_1")):
            refused = await server.client.request(method, f"{PATH}/{path}?owner=*", headers=BOB)
            assert refused.status_code == 403
            assert refused.json()["error"]["message"] == "The data of other owners needs the admin."
