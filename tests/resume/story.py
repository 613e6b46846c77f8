"""What happens in a cell: a conversation, a job with effects that reaches the point, and its end.

hello → a fork that is read before the fault → the job: note 0 → the point → spend z (asked twice) → the end
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from resume.model import Plan, make_call
from resume.reader import Entry, Reader
from resume.world import World

JOB = "job one"
CHILD = "job of the child"
STEER = "Please hurry."
SESSION = "s"
ANSWERS = 4
"""How many clients answer one question at once."""


@dataclass(frozen=True)
class Answer:
    """An answer to a question of a run, and what the server replied."""

    ask_id: str
    is_approved: bool
    status: int


@dataclass
class Story:
    """One conversation and what was seen of it; `expected` are the allowed ends of each call, by its key."""

    world: World
    with_answers: bool = False  # whether the fault is many answers, so that the point needs a question
    edition: int = 1  # of the tools, at the end
    is_killed: bool = False  # whether the process that works on the job is gone at the point
    session_id: str = SESSION
    run_id: str = ""
    root_id: str = ""
    asked: dict[str, str] = field(default_factory=dict[str, str])
    answers: list[Answer] = field(default_factory=list[Answer])
    expected: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    other_runs: list[str] = field(default_factory=list[str])  # of background children
    news: list[str] = field(default_factory=list[str])  # what must reach the model once while it works
    shown: list[Entry] = field(default_factory=list[Entry])
    problems: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    _reader: Reader | None = None

    @property
    def reader(self) -> Reader:
        """The client that reads the job."""
        assert self._reader is not None
        return self._reader

    async def close(self) -> None:
        """Stop reading."""
        if self._reader is not None:
            await self._reader.close()

    def plan(self, *calls: Any, child: Plan = ()) -> None:
        """Set what the model does: a call, the calls at the point, and one that requires approval."""
        self.world.model.plans[JOB] = [[make_call("note", "0")], calls, [make_call("spend", "z")]]
        self.world.model.plans[CHILD] = child
        self.expected |= {"0": {"ok"}, "z": {"ok"}}

    async def begin(self) -> None:
        """Say hello, and read a fork of the conversation before anything happens."""
        self.root_id = await self.say("hello", None)
        await self.say("fork", self.root_id)

    async def say(self, text: str, parent_id: str | None, **fields: Any) -> str:
        """Send a message and wait for its answer; return the answer's id."""
        body = {"message": text, "session_id": self.session_id, "parent_id": parent_id, **fields}
        response = await self.world.request(
            "POST", "/api/v1/chat", json=body, headers={"accept": "application/json"}
        )
        assert response.status_code == 200, response.text
        return response.json()["message_id"]

    async def ask_for_job(self) -> None:
        """Send the job."""
        body = {"message": JOB, "session_id": self.session_id, "parent_id": self.root_id, "tab_id": "t"}
        address = self.world.web[0].address + "/api/v1/chat"
        async with self.world.client.stream("POST", address, json=body) as response:
            assert response.status_code == 200, await response.aread()
        view = await self.world.get(f"/api/v1/sessions/{self.session_id}")
        self.follow(view["run_id"])

    def follow(self, run_id: str) -> None:
        """Read the events of the job."""
        self.run_id = run_id
        self._reader = Reader(self.world, run_id)

    async def find_ask(self, key: str) -> str:
        """Wait until the question about a call is listed; return its id."""

        async def find() -> str | None:
            asks = (await self.world.get("/api/v1/asks"))["asks"]
            found = [ask["ask_id"] for ask in asks if ask["payload"]["args"]["key"] == key]
            return found[0] if found else None

        self.asked[key] = await self.world.wait_until(find, f"a question about {key}")
        return self.asked[key]

    async def answer(self, ask_id: str, *approvals: bool) -> list[Answer]:
        """Answer a question, all at once, through all servers."""
        count = len(self.world.web)
        given = await asyncio.gather(
            *(
                self._answer_at(self.world.web[place % count].address, ask_id, approved)
                for place, approved in enumerate(approvals)
            )
        )
        self.answers += given
        return given

    async def _answer_at(self, address: str, ask_id: str, approved: bool) -> Answer:
        body = {"approved": approved}
        response = await self.world.client.post(f"{address}/api/v1/asks/{ask_id}", json=body)
        return Answer(ask_id, approved, response.status_code)

    async def answer_surely(self, key: str, *approvals: bool) -> None:
        """Answer the question about a call; the database may be back only in a moment."""
        ask_id = await self.find_ask(key)

        async def give() -> bool:
            return any(answer.status != 503 for answer in await self.answer(ask_id, *approvals))

        await self.world.wait_until(give, f"an answer about {key}")

    async def mark(self) -> None:
        """Remember what was shown before the fault: the first turn at least."""
        await self.reader.wait_for(lambda entry: entry["type"] == "turn-end", "the first turn")
        self.shown = list(self.reader.entries)

    async def finish(self) -> None:
        """Let the job come to its end; its last question is answered by two clients at once."""
        await self.answer_surely("z", True, True)
        await self.reader.wait_for_end()
