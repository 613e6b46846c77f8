"""The people of a soak: they ask, edit, steer, queue, cancel, answer, and read on after every break."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import httpx

from dovetail.concurrency import retrying
from dovetail.ids import new_id
from resume.reader import Reader
from resume.world import PAUSE, World

QUESTIONS = 30
"""How many questions a session has before a new one begins."""
SEND = 0.4
"""How often somebody writes to a run in progress, or to an agent that it has started."""
CANCEL = 0.1
"""How often somebody cancels a run."""
CHANGE = 0.2
"""How often somebody edits a question that has an answer, or asks it again."""
Entry = dict[str, Any]


@dataclass
class Conversation:
    """One session: the questions that the server accepted, in order, and what a client saw of each run.

    `left` are questions on branches that an edit has left, `again` those that were asked once more.
    """

    session_id: str
    accepted: list[str] = field(default_factory=list[str])
    left: list[str] = field(default_factory=list[str])
    again: list[str] = field(default_factory=list[str])
    steered: list[str] = field(default_factory=list[str])
    cancelled: set[str] = field(default_factory=set[str])
    seen: dict[str, list[Entry]] = field(default_factory=dict[str, list[Entry]])


@dataclass
class Talker:
    """Somebody who talks until `stop` is set, in one session after the other."""

    world: World
    name: str
    chance: random.Random
    stop: asyncio.Event
    conversations: list[Conversation] = field(default_factory=list[Conversation])
    _count: int = 0

    async def talk(self) -> None:
        """Ask one question after the other."""
        while not self.stop.is_set():
            self.conversations.append(Conversation(f"{self.name}-{len(self.conversations)}"))
            while not self.stop.is_set() and len(self.conversations[-1].accepted) < QUESTIONS:
                await self._ask(self.conversations[-1])

    def _write_job(self) -> str:
        self._count += 1
        return f"job {self.name}.{self._count}"

    async def _ask(self, here: Conversation) -> None:
        job = self._write_job()
        await self._start(here, {"message": job}, lambda view: job in list_texts(view))
        here.accepted.append(job)
        await self._follow_all(here)
        if self.chance.random() < CHANGE:
            await self.chance.choice((self._edit, self._ask_again))(here)
            await self._follow_all(here)

    async def _edit(self, here: Conversation) -> None:
        """Write the last question anew, on a branch of its own."""
        old, job = (await self._view(here))["path"][-2], self._write_job()
        body = {"message": job, "parent_id": old["parent_id"]}
        await self._start(here, body, lambda view: job in list_texts(view))
        if (text := read_text(old)) in here.accepted:
            here.accepted.remove(text)
            here.left.append(text)
        here.accepted.append(job)

    async def _ask_again(self, here: Conversation) -> None:
        """Have the last question answered once more, on a branch of its own."""
        question, answer = (await self._view(here))["path"][-2:]
        body = {"trigger": "regenerate-message", "messageId": question["id"]}
        known = [answer["id"]]
        await self._start(here, body, lambda view: view["run_id"] or view["path"][-1]["id"] not in known)
        here.again.append(question["id"])

    async def _start(
        self, here: Conversation, body: dict[str, Any], has_begun: Callable[[Entry], Any]
    ) -> None:
        """Send a question until it is accepted; if a reply is lost, the session shows whether it was."""
        sent = {**body, "session_id": here.session_id, "tab_id": here.session_id}
        async for _ in retrying(repeat(PAUSE)):
            if await self._post(sent) or has_begun(await self._view(here)):
                return

    async def _post(self, body: dict[str, Any]) -> bool:
        """Send a question and leave at once: whether it was accepted for certain."""
        await self.world.up.wait()
        try:
            address = self.world.web[0].address
            async with self.world.client.stream("POST", f"{address}/api/v1/chat", json=body) as response:
                text = "" if response.status_code == 200 else (await response.aread()).decode()
        except (httpx.TransportError, IndexError):
            return False
        assert response.status_code in (200, 409, 503), text
        return response.status_code == 200

    async def _follow_all(self, here: Conversation) -> None:
        """Read every run of the session, until none works and no message waits."""
        while True:  # first what waits: it may become a run before the second look, but no run starts to wait
            waiting = await list_waiting(self.world, here.session_id)
            run_id = (await self._view(here))["run_id"]
            if run_id and run_id not in here.seen:
                await self._follow(here, run_id)
            elif run_id is None and not waiting:
                return
            else:
                await asyncio.sleep(PAUSE)

    async def _follow(self, here: Conversation, run_id: str) -> None:
        reader = Reader(self.world, run_id)
        here.seen[run_id] = reader.entries
        try:
            if self.chance.random() < SEND:
                await self._send(here, reader)
            if self.chance.random() < CANCEL:
                await self._cancel(here, run_id)
            await reader.wait_for_end()
            here.seen[run_id] = reader.entries
        finally:
            await reader.close()

    async def _send(self, here: Conversation, reader: Reader) -> None:
        """Send a message into the run, which may have ended by now, or to an agent that it has started."""
        await asyncio.sleep(self.chance.random() * 0.3)
        run_id, modes = await self._choose_run(here, reader)
        mode = self.chance.choice(modes)
        text = self._write_job() if mode == "queue" else f"steer {new_id('word')}"
        body = {"id": new_id("m"), "message": text, "mode": mode}
        answer = await self._request("POST", f"/api/v1/runs/{run_id}/messages", json=body)
        if answer.status_code == 202:
            (here.accepted if mode == "queue" else here.steered).append(text)
        else:
            assert answer.status_code in (404, 409), answer.text

    async def _choose_run(self, here: Conversation, reader: Reader) -> tuple[str, Sequence[str]]:
        """Return a run to write to: this one, a child of it or a task in the background; and how."""
        children = sorted({entry["path"][-1] for entry in reader.entries if len(entry["path"]) > 1})
        if children and self.chance.random() < 0.3:
            return self.chance.choice(children), ("steer",)
        tasks = await self._request("GET", f"/api/v1/sessions/{here.session_id}/children")
        if tasks.json()["children"] and self.chance.random() < 0.3:
            return self.chance.choice(tasks.json()["children"])["run_id"], ("steer",)
        return reader.run_id, ("steer", "queue")

    async def _cancel(self, here: Conversation, run_id: str) -> None:
        await asyncio.sleep(self.chance.random() * 0.3)
        here.cancelled.add(run_id)
        body = {"mode": self.chance.choice(("now", "after_tool", "after_turn"))}
        answer = await self._request("POST", f"/api/v1/runs/{run_id}/cancel", json=body)
        assert answer.status_code in (202, 409), answer.text

    async def _view(self, here: Conversation) -> dict[str, Any]:
        response = await self._request("GET", f"/api/v1/sessions/{here.session_id}")
        return response.json() if response.status_code == 200 else {"path": [], "run_id": None}

    async def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request until a server has its database."""
        response = await self.world.request(method, path, **options)
        while response.status_code == 503:
            await asyncio.sleep(PAUSE)
            response = await self.world.request(method, path, **options)
        return response


def read_text(message: dict[str, Any]) -> str:
    """Return the text of a message."""
    return "".join(part.get("text", "") for part in message["parts"])


async def list_waiting(world: World, session_id: str) -> list[Entry]:
    """Return what waits to be read, but for news of tasks, which wait for the next question."""
    inbox = await world.get(f"/api/v1/sessions/{session_id}/inbox")
    return [message for message in inbox["messages"] if message["kind"] != "notice"]


def list_texts(view: dict[str, Any]) -> list[str]:
    """Return the texts of the messages that a session shows."""
    return [read_text(message) for message in view["path"]]


async def answer_everything(world: World, stop: asyncio.Event) -> None:
    """Answer every question of every run, as the user of all sessions."""
    while not stop.is_set():
        response = await world.request("GET", "/api/v1/asks")
        for ask in response.json()["asks"] if response.status_code == 200 else ():
            await _answer(world, ask)
        await asyncio.sleep(0.1)


async def _answer(world: World, ask: dict[str, Any]) -> None:
    key = ask["payload"]["args"]["key"]
    if ask["kind"] == "browser":
        body = {"toolCallId": ask["call_id"], "status": "success", "output": f"picked {key}"}
        await world.request("POST", "/ai/tools/ack", json={**body, "tabId": ask["session_id"]})
    else:
        body = {"approved": sum(map(ord, key)) % 4 != 0}
        await world.request("POST", f"/api/v1/asks/{ask['ask_id']}", json=body)
