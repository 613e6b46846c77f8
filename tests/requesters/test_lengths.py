"""The length of an answer that is assumed is the one that the server reads."""

from typing import Any

import pytest

from dovetail import Agent
from dovetail.events.call import ModelRequest
from dovetail.requesters.lengths import find_longest_answer, merge_options, read_length
from dovetail.requesters.resolve import resolve
from dovetail.settings import Settings
from dovetail.testing import ScriptedServer

USUAL = 4_000


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        ("anthropic:claude-sonnet-4-5", {}, USUAL),
        ("anthropic:claude-sonnet-4-5", {"options": {"max_tokens": 500}}, 500),
        ("anthropic:claude-sonnet-4-5", {"thinking": 30_000}, 34_000),
        ("anthropic:claude-sonnet-4-5", {"thinking": 30_000, "options": {"max_tokens": 500}}, 38_192),
        ("anthropic:claude-sonnet-4-5", {"body": {"max_tokens": 50_000}}, 50_000),
        ("openai:gpt-4.1", {}, USUAL),
        ("openai:gpt-5", {"thinking": "low"}, USUAL + 2_048),
        ("google:gemini-2.5-flash", {}, USUAL),
        ("google:gemini-2.5-flash", {"options": {"maxOutputTokens": 700}}, 700),
        ("bedrock:amazon.nova-lite-v1:0", {}, USUAL),
    ],
)
def test_the_longest_answer_is_the_one_that_is_sent(
    model: str, options: dict[str, Any], expected: int
) -> None:
    provider = {"api_key": "k", "base_url": "http://127.0.0.1:9/v1"}
    settings = Settings({"model": {**options, "providers": {model.partition(":")[0]: provider}}})
    request = ModelRequest(messages=[{"role": "user", "content": "Hi"}], longest=USUAL)
    assert find_longest_answer(resolve(model, settings), request, 1) == expected


def test_a_length_of_the_request_replaces_the_usual_one_whatever_its_name() -> None:
    merged = merge_options({"max_completion_tokens": 9_000, "seed": 1}, {"max_tokens": 10})
    assert merged == {"max_tokens": 10, "seed": 1}
    assert merge_options({"max_tokens": 9}, {"seed": 1}) == {"max_tokens": 9, "seed": 1}
    assert read_length({"max_tokens": 10, "max_completion_tokens": 9_000}) == 9_000


def test_a_server_is_sent_the_length_only_if_money_is_limited() -> None:
    with ScriptedServer(["Hello."] * 2) as server:
        model = {"name": "openai:gpt-4.1", "providers": {"openai": {"base_url": server.url, "api_key": "k"}}}
        Agent(settings={"model": model}).input("Hi").start()
        Agent(settings={"model": model, "limits": {"cost": 1}}).input("Hi").start()
        assert [asked.body.get("max_tokens") for asked in server.requests] == [None, USUAL]
