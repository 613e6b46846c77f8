"""Messages that reach a session at the same time as something else."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from dovetail.app import Dovetail
from dovetail.errors import ConflictError
from dovetail.runs.inbox import InboxMessage, store_message
from dovetail.sessions.chat import StartedChat
from dovetail.sessions.message import Message, make_session
from dovetail.sessions.request import ChatRequest, Trigger
from dovetail.sessions.rows import fetch_session, insert_session, save_message
from dovetail.settings import LOCAL_OWNER, as_settings
from dovetail.store.database import Transaction
from dovetail.testing import Gate, ScriptedRequester
from patience import PATIENCE
from serving import ScriptedRuntime


class ReadParts(list[dict[str, Any]]):
    """The parts of a message, which notice when they are read: its session has been looked up by then."""

    def __init__(self, text: str) -> None:
        super().__init__([{"type": "text", "text": text}])
        self.were_read = threading.Event()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self.were_read.set()
        return super().__iter__()


class RawRequest(ChatRequest):
    """A request whose parts stay the ones that it was made of."""

    def __post_init__(self) -> None:
        pass


async def test_an_accepted_message_is_not_refused_when_its_session_is_created_just_then(
    tmp_path: Path,
) -> None:
    parts = ReadParts("How long?")

    def create(transaction: Transaction) -> None:
        assert parts.were_read.wait(PATIENCE)
        insert_session(transaction, make_session(LOCAL_OWNER, "s"))

    runtime = ScriptedRuntime(ScriptedRequester([]), as_settings({}))
    async with Dovetail(workspace=tmp_path, runtime=runtime) as app:
        await app.open_chat()
        request = RawRequest(parts=parts, session_id="s", agent="gone")
        creating = asyncio.create_task(app.runs.database.write(create))
        await asyncio.sleep(0)  # the transaction comes before that of the message
        started = await app.chat.send(request, accepted=True)
        await creating
        result = await started.handle.result()
        assert result.reason == "error"
        assert "gone" in (result.error or {})["message"]


async def ask(app: Dovetail, text: str, **where: Any) -> StartedChat:
    parts = [{"type": "text", "text": text}]
    return await app.chat.send(ChatRequest(parts=parts, session_id="s", **where))


def say(message_id: str, parent_id: str, text: str) -> Message:
    content = [{"role": "assistant", "content": text}]
    return Message(id=message_id, parent_id=parent_id, role="assistant", content=content)


@pytest.mark.parametrize("trigger", ["submit", "regenerate"])
async def test_a_message_follows_the_answer_that_was_stored_while_it_was_placed(
    tmp_path: Path, trigger: Trigger
) -> None:
    parts, model = ReadParts("And now?"), ScriptedRequester(["One.", "Two."])

    def store(transaction: Transaction) -> None:
        assert trigger == "regenerate" or parts.were_read.wait(PATIENCE)
        session = fetch_session(transaction, "s", LOCAL_OWNER)
        question = replace(say("q2", session.head_id or "", "Again?"), role="user")
        save_message(transaction, session, question, {})
        save_message(transaction, fetch_session(transaction, "s", LOCAL_OWNER), say("a2", "q2", "Late."), {})

    async with Dovetail(workspace=tmp_path, runtime=ScriptedRuntime(model, as_settings({}))) as app:
        await app.open_chat()
        await (await ask(app, "First?")).handle.result()
        storing = asyncio.create_task(app.runs.database.write(store))
        await asyncio.sleep(0)  # the transaction comes before that of the message
        started = await app.chat.send(RawRequest(parts=parts, session_id="s", trigger=trigger))
        await storing
        await started.handle.result()
        _, tree = await app.chat.sessions.open("s", owner=LOCAL_OWNER)
    said = [message["content"] for message in model.requests[1].messages if message["role"] != "system"]
    follows = {"submit": ["Late.", "And now?"], "regenerate": ["Again?"]}[trigger]
    assert said == ["First?", "One.", *(["Again?"] if trigger == "submit" else []), *follows]
    roles = [message.role for message in tree.path(started.message_id)]
    assert roles == ["user", "assistant"] * (len(roles) // 2)


@pytest.mark.parametrize("trigger", get_args(Trigger))
async def test_a_question_does_not_overtake_a_message_that_waits(tmp_path: Path, trigger: Trigger) -> None:
    model = ScriptedRequester(["One.", "Two.", "Three."])
    async with Dovetail(workspace=tmp_path, runtime=ScriptedRuntime(model, as_settings({}))) as app:
        await app.open_chat()
        first = await ask(app, "First?")
        await first.handle.result()
        waiting = InboxMessage(
            id="q2",
            session_id="s",
            owner=LOCAL_OWNER,
            kind="queue",
            parts=[{"type": "text", "text": "Second?"}],
            content=[],
            run_id="run_deleted",
        )
        await app.runs.database.write(lambda connection: store_message(connection, waiting))
        with pytest.raises(ConflictError, match="messages wait there for their answers"):
            await ask(app, "Third?", trigger=trigger, parent_id=None)
        async with asyncio.timeout(PATIENCE):
            while "q2" not in (tree := (await app.chat.sessions.open("s"))[1]) or tree.head == "q2":
                if (running := await app.runs.find_running("s")) is not None:
                    await app.runs.result(running.id)
        third = await ask(app, "Third?")
        await third.handle.result()
        _, tree = await app.chat.sessions.open("s", owner=LOCAL_OWNER)
    texts = [message.text for message in tree.path()]
    assert texts == ["First?", "One.", "Second?", "Two.", "Third?", "Three."]


async def test_an_answer_does_not_pull_back_a_reader_who_moved_to_another_branch(tmp_path: Path) -> None:
    gate = Gate()
    runtime = ScriptedRuntime(ScriptedRequester(["One.", [gate, "Two."], "Three."]), as_settings({}))
    async with Dovetail(workspace=tmp_path, runtime=runtime) as app:
        await app.open_chat()
        first = await ask(app, "First?", message_id="q1")
        await first.handle.result()
        second = await ask(app, "Or this?", message_id="q2", parent_id=None)
        await app.chat.sessions.update("s", head_id="q1")
        gate.open()
        await second.handle.result()
        session, tree = await app.chat.sessions.open("s", owner=LOCAL_OWNER)
        assert session.head_id == first.message_id
        assert [message.id for message in tree.path(second.message_id)] == ["q2", second.message_id]
        again = await app.chat.send(
            ChatRequest(session_id="s", trigger="regenerate", message_id=first.message_id)
        )
        await again.handle.result()
        session, _ = await app.chat.sessions.open("s", owner=LOCAL_OWNER)
        assert session.head_id == again.message_id
