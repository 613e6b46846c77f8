"""Messages that reach a session at the same time as something else."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dovetail.app import Dovetail
from dovetail.sessions.chat import StartedChat
from dovetail.sessions.message import make_session
from dovetail.sessions.request import ChatRequest
from dovetail.sessions.rows import insert_session
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


async def test_an_answer_does_not_pull_back_a_reader_who_moved_to_another_branch(tmp_path: Path) -> None:
    gate = Gate()
    runtime = ScriptedRuntime(ScriptedRequester(["One.", [gate, "Two."], "Three."]), as_settings({}))
    async with Dovetail(workspace=tmp_path, runtime=runtime) as app:
        await app.open_chat()

        async def ask(text: str, **where: Any) -> StartedChat:
            parts = [{"type": "text", "text": text}]
            return await app.chat.send(ChatRequest(parts=parts, session_id="s", **where))

        first = await ask("First?", message_id="q1")
        await first.handle.result()
        second = await ask("Or this?", message_id="q2", parent_id=None)
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
