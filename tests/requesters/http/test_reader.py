"""What all readers do at the end of an answer, whatever their API."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from dovetail.errors import ModelError, TransientModelError
from dovetail.events.delta import TextDelta
from dovetail.requesters.anthropic.answer import MessagesReader
from dovetail.requesters.bedrock.answer import ConverseReader
from dovetail.requesters.errors import Failures
from dovetail.requesters.google.answer import GoogleReader
from dovetail.requesters.http.reader import AnswerReader
from dovetail.requesters.openai.answer import ChatReader
from dovetail.requesters.openai.responses_answer import ResponsesReader

Make: TypeAlias = Callable[[Failures], AnswerReader]


def anthropic(text: str) -> dict[str, Any]:
    details = {"type": "refusal", "category": "cyber", "explanation": "Harmful."}
    blocks = [{"type": "text", "text": text}] if text else []
    return {"type": "message", "content": blocks, "stop_reason": "refusal", "stop_details": details}


def bedrock(text: str) -> dict[str, Any]:
    blocks = [{"text": text}] if text else []
    return {"output": {"message": {"content": blocks}}, "stopReason": "guardrail_intervened"}


def chat(text: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": text}, "finish_reason": "content_filter"}]}


def google(text: str) -> dict[str, Any]:
    thought = {"text": "hm", "thought": True}
    return {"candidates": [{"content": {"parts": [thought, {"text": text}]}, "finishReason": "SAFETY"}]}


def responses(text: str) -> dict[str, Any]:
    items = [{"type": "message", "content": [{"type": "output_text", "text": text}]}] if text else []
    details = {"reason": "content_filter"}
    return {"status": "incomplete", "incomplete_details": details, "output": items}


READERS: dict[str, tuple[Make, Callable[[str], dict[str, Any]], str]] = {
    "anthropic": (
        lambda failures: MessagesReader(failures.fail_answer, "anthropic"),
        anthropic,
        "refusal: cyber: Harmful.",
    ),
    "bedrock": (
        lambda failures: ConverseReader(failures.fail_answer, "bedrock", "m"),
        bedrock,
        "guardrail_intervened",
    ),
    "openai": (lambda failures: ChatReader(failures.fail_answer), chat, "content_filter"),
    "google": (GoogleReader, google, "SAFETY"),
    "azure": (lambda failures: ResponsesReader(failures.fail_answer, "openai"), responses, "content_filter"),
}


def read(name: str, text: str) -> tuple[list[Any], AnswerReader]:
    failures = Failures(provider=name, model="m", address="http://a", has_key=True, secrets=[])
    reader = READERS[name][0](failures)
    return reader.feed_whole(json.dumps(READERS[name][1](text)).encode()), reader


@pytest.mark.parametrize("name", READERS)
def test_an_answer_that_is_refused_before_its_first_word_is_an_error(name: str) -> None:
    _, reader = read(name, "")

    with pytest.raises(ModelError) as caught:
        reader.finish()

    assert caught.value.message == f"{name}:m at http://a refused to answer ({READERS[name][2]})"
    assert "Rephrase the request" in str(caught.value.hint)
    assert not isinstance(caught.value, TransientModelError)


@pytest.mark.parametrize("name", READERS)
def test_an_answer_that_is_refused_after_some_text_ends_with_that_reason(name: str) -> None:
    deltas, reader = read(name, "I can")

    assert TextDelta("I can") in deltas
    assert reader.finish().reason == "content-filter"
