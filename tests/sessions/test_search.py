"""Searching sessions by the text of their messages."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dovetail.sessions.message import Message
from dovetail.sessions.search import cut_around
from dovetail.sessions.store import SessionStore
from dovetail.store.database import Database
from postgres import make_database, uses_postgres


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionStore]:
    url = tmp_path / "x.db" if request.param == "sqlite" else await make_database()
    async with Database(url) as database:
        yield SessionStore(database)


async def fill(store: SessionStore, title: str, *texts: str) -> str:
    session = await store.create(title=title)
    parent = None
    for number, text in enumerate(texts):
        message = Message(
            id=f"{title}-{number}", parent_id=parent, parts=[{"type": "text", "text": text, "state": "done"}]
        )
        await store.save_message(session.id, message)
        parent = message.id
    return session.id


async def test_search_names_the_messages_and_their_neighbourhood(store: SessionStore) -> None:
    oak = await fill(store, "wood", "Is oak hard?", "Yes. " * 40 + "Oak is hard, and heavy.", "Thanks")
    await fill(store, "metal", "Is iron hard?")
    page = await store.page(query="OAK")
    assert [session.id for session in page.sessions] == [oak]
    first, second = page.places[oak]
    assert (first.message_id, first.text) == ("wood-0", "Is oak hard?")
    assert second.text.startswith("…")
    assert second.text.endswith("Oak is hard, and heavy.")


async def test_words_of_the_stored_form_are_not_found(store: SessionStore) -> None:
    await fill(store, "wood", "Is oak hard?")
    for word in ("type", "state", "done", "text"):
        assert (await store.page(query=word)).sessions == []


async def test_title_is_found_without_a_place_and_chinese_text_with_one(store: SessionStore) -> None:
    wood = await fill(store, "About wood", "橡木很硬")
    page = await store.page(query="about")
    assert [session.id for session in page.sessions] == [wood]
    assert page.places == {}
    assert (await store.page(query="橡木")).places[wood][0].text == "橡木很硬"


async def test_percent_sign_is_searched_as_it_is(store: SessionStore) -> None:
    await fill(store, "plain", "half of it")
    sure = await fill(store, "sure", "100% of it")
    assert [session.id for session in (await store.page(query="%")).sessions] == [sure]


def test_neighbourhood_of_a_text_that_is_missing_is_its_beginning() -> None:
    assert cut_around("Oak\n is  hard", "elm") == "Oak is hard"
