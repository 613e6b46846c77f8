"""What an attacker tries to read: secrets in all places, all spellings of their paths, all tools and routes.

The canaries are not known to the masking, so an answer with one in it has read a place that it must not.
What everyone may read is marked as well: an answer with it shows that the attack reaches files at all.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dovetail.data.private_file import write_private
from dovetail.data.private_folder import find_private_folder
from dovetail.events.call import Kind
from dovetail.tools.tool import Tool

STATE, PRIVATE, CHAT = "canary-of-the-state-folder", "canary-of-the-private-folder", "canary-of-anns-chat"
KEY, TOKEN = "sk-ant-api03-canary-of-a-provider", "access-canary-of-a-login"
ADMIN = "canary-of-the-admin-token"
SECRETS = (STATE, PRIVATE, CHAT, KEY, TOKEN, ADMIN)
OPEN = "canary-that-everyone-may-read"
FILE = "note.txt"
_COMMAND = "cat note.txt keys.json dovetail.db logins/vault.json"
_FILLERS: dict[str, Any] = {"integer": 1, "number": 1, "boolean": True, "object": {}, "array": []}


class Place:
    """A workspace with secrets, and ways to them; the data folder may be inside of the workspace."""

    def __init__(self, workspace: Path) -> None:
        self.root = workspace
        self.state = workspace / ".dovetail"
        self.private = find_private_folder(workspace)
        self.private.mkdir(parents=True)
        self.state.mkdir()
        (workspace / "sub").mkdir()
        (self.state / FILE).write_text(STATE)
        (self.private / FILE).write_text(PRIVATE)
        write_private(self.private / "keys.json", {"anthropic": KEY})
        write_private(self.private / "logins" / "vault.json", {"tokens": {"access_token": TOKEN}, "url": "x"})
        for name, folder in (("state", self.state), ("private", self.private)):
            (workspace / f"link-{name}").symlink_to(folder / FILE)
            (workspace / f"way-{name}").symlink_to(folder)
            (workspace / f"chain-{name}").symlink_to(f"link-{name}")
            os.link(folder / FILE, workspace / f"hard-{name}.txt")
            for place in (f"agents/{name}.md", f"skills/{name}/SKILL.md", f"prompts/{name}.yaml"):
                self._make(place).symlink_to(folder / FILE)
                os.link(folder / FILE, self._make(place.replace(name, f"hard-{name}")))
        self._make(".dovetail/skills/inner/SKILL.md").symlink_to(self.state / FILE)
        self._make("skills/open/SKILL.md").write_text(f"---\ndescription: Read it.\n---\n{OPEN}\n")
        self._make("prompts/open.yaml").write_text(f"input: {OPEN} in ${{language}}\n")
        self._make("open.txt").write_text(f"{OPEN}\n")

    def _make(self, name: str) -> Path:
        place = self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def spell(self) -> list[str]:
        """Return spellings of the paths to the secrets, and of the folders that hold them."""
        inside = [
            self.private / "keys.json",
            self.private / "logins" / "vault.json",
            self.state / "dovetail.db",
        ]
        paths = [str(path.relative_to(self.root)) for path in inside]
        for folder, name in ((self.state, "state"), (self.private, "private")):
            path = (folder / FILE).relative_to(self.root).as_posix()
            paths += [path, f"./{path}", f"sub/../{path}", f"sub/..//{path}/", str(folder / FILE)]
            paths += [
                path.upper(),
                path.replace(".", "\uff0e"),
                quote(path, safe=""),
                f"file://{folder / FILE}",
            ]
            paths += [f"/proc/self/cwd/{path}", f"{path}\0.md", f"{path}:1", f" {path} "]
            paths += [
                f"link-{name}",
                f"way-{name}/{FILE}",
                f"chain-{name}",
                f"hard-{name}.txt",
                f"way-{name}/.",
            ]
            paths += [folder.relative_to(self.root).as_posix(), str(folder), f"way-{name}"]
        texts = ["open.txt", "open", "state", "hard-state", "private", "hard-private", "inner"]
        return [*paths, *texts, ".", "..", "", "*", "**/*", "~", str(self.root)]


def attack(tool: Tool, paths: list[str]) -> Iterator[dict[str, Any]]:
    """Yield arguments of a tool: each of its texts is each path in turn."""
    properties: dict[str, dict[str, Any]] = tool.parameters.get("properties", {})
    texts = [name for name, schema in properties.items() if "string" in json.dumps(schema)]
    for name in texts:
        for path in paths:
            wanted = [f"cat {path}", f"sh -c 'cat <{path}'"] if name == "command" else [path]
            yield from ({**_fill(tool, name), name: text} for text in wanted)


def _fill(tool: Tool, target: str) -> dict[str, Any]:
    """Return values for the other arguments: those that are required, and a command if there is one."""
    properties: dict[str, dict[str, Any]] = tool.parameters.get("properties", {})
    required = [name for name in tool.parameters.get("required", []) if name != target]
    filled = {name: _FILLERS.get(str(properties[name].get("type")), "canary") for name in required}
    return {**filled, "command": _COMMAND} if "command" in properties and target != "command" else filled


def list_targets(tools: list[Tool]) -> list[Tool]:
    """Return the tools of the server; those that change something may replace a link, so they come last.

    An agent is not among them: it reads with these tools.
    """
    own = [tool for tool in tools if not tool.origin.startswith("agent") and not tool.needs_tab]
    return sorted(own, key=lambda tool: (not tool.is_read_only, tool.kind is Kind.Write))


def find_examples(operation: dict[str, Any], schemas: dict[str, Any]) -> list[Any]:
    """Return the bodies that the OpenAPI document shows for an operation; [None] if it has none."""
    if "requestBody" not in operation:
        return [None]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    names = [each["$ref"].rpartition("/")[2] for each in schema.get("anyOf", [schema]) if "$ref" in each]
    return [example for name in names for example in schemas[name]["examples"]]


def spoil(body: Any, text: str) -> Iterator[Any]:
    """Yield a body, then the body with each of its texts replaced in turn."""
    yield body
    items = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, item in items:
        for spoilt in [text] if isinstance(item, str) else [*spoil(item, text)][1:]:
            copied = body.copy()
            copied[key] = spoilt
            yield copied
