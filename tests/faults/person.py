"""A persistent user with a session: continues to read after every break and answers every question."""

from dataclasses import dataclass, field
from typing import Any

from faults.world import World

Entry = dict[str, Any]


@dataclass
class Person:
    """One client; `entries` are the events it has seen, by run, without those that were reset."""

    world: World
    session_id: str
    sent: list[str] = field(default_factory=list[str])
    entries: dict[str, list[Entry]] = field(default_factory=dict[str, list[Entry]])
    _asked: dict[str, Entry] = field(default_factory=dict[str, Entry])

    async def say(self, text: str) -> None:
        """Send a message and stay until its answer is complete."""
        run_id = await self._send(text)
        self.sent.append(text)
        entries = self.entries[run_id] = []
        while not entries or entries[-1]["type"] != "run-end" or len(entries[-1]["path"]) > 1:
            await self._follow(run_id, entries)

    def describe(self) -> str:
        """Return the progress, for debugging."""
        last = {
            run_id: [(e["number"], e["type"]) for e in seen[-3:]] for run_id, seen in self.entries.items()
        }
        return f"{self.session_id} got answers to {self.sent}; last seen {last}; asked {list(self._asked)}"

    async def _send(self, text: str) -> str:
        body: dict[str, Any] = {"message": text, "session_id": self.session_id, "tab_id": self.session_id}
        while True:
            async for chunk in self.world.stream("POST", "/api/v1/chat", json=body):
                return chunk["messageMetadata"]["run_id"]
            found = await self._find(text)
            if isinstance(found, str):
                return found
            body = found or body

    async def _find(self, text: str) -> str | dict[str, Any] | None:
        """Find the run of a message whose answer did not begin, or the request that starts one."""
        response = await self.world.request("GET", f"/api/v1/sessions/{self.session_id}")
        view = response.json() if response.status_code == 200 else {"path": [], "run_id": None}
        texts = [part.get("text") for message in view["path"] for part in message["parts"]]
        if text not in texts:
            return None
        if view["run_id"]:
            return view["run_id"]
        last = view["path"][-1]
        if last["role"] == "assistant":
            return last["metadata"]["run_id"]
        again = {"id": self.session_id, "messages": [], "trigger": "regenerate-message"}
        return {**again, "messageId": last["id"], "tab_id": self.session_id}

    async def _follow(self, run_id: str, entries: list[Entry]) -> None:
        after = entries[-1]["number"] if entries else 0
        for ask in list(self._asked.values()):
            await self._answer(ask)
        async for entry in self.world.stream("GET", f"/api/v1/runs/{run_id}/events?after={after}"):
            if entry["type"] == "run-resume":  # what was seen beyond that number was never stored
                entries[:] = [known for known in entries if known["number"] <= entry["after"]]
            entries.append(entry)
            if entry["type"] == "ask-request":
                self._asked[entry["ask_id"]] = entry
                await self._answer(entry)

    async def _answer(self, ask: Entry) -> None:
        """Answer a question, and retry until the answer is confirmed."""
        key = ask["payload"]["args"]["key"]
        if ask["kind"] == "browser":
            body = {"toolCallId": ask["call_id"], "status": "success", "output": f"picked {key}"}
            await self.world.request("POST", "/ai/tools/ack", json={**body, "tabId": self.session_id})
        else:
            approved = sum(map(ord, key)) % 4 != 0
            await self.world.request("POST", f"/api/v1/asks/{ask['ask_id']}", json={"approved": approved})
        self._asked.pop(ask["ask_id"], None)
