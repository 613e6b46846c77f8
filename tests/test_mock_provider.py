"""The mock provider plays answers in order, byte for byte if asked, and shows requests as they came."""

import json
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx
import pytest

from mock_provider import MockProvider
from patience import PATIENCE

BODY = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
HEADERS = {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}


def ask(provider: MockProvider, **fields: object) -> httpx.Response:
    url = f"{provider.url}/v1/messages"
    return httpx.post(url, json={**BODY, **fields}, headers=HEADERS, timeout=PATIENCE)


def test_answers_come_in_order_in_the_format_of_the_path(mock_provider: MockProvider) -> None:
    mock_provider.reply("one", {"error": {"message": "busy", "type": "overloaded_error"}, "status": 529})
    mock_provider.reply({"toolCalls": [{"id": "t1", "name": "add", "arguments": {"a": 1}}]})
    assert ask(mock_provider).json()["content"] == [{"type": "text", "text": "one"}]
    refused = ask(mock_provider)
    assert (refused.status_code, refused.json()["error"]["type"]) == (529, "overloaded_error")
    [call] = ask(mock_provider).json()["content"]
    assert call == {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}
    assert ask(mock_provider).status_code == 404


def test_requests_are_kept_as_they_came(mock_provider: MockProvider) -> None:
    mock_provider.reply("ok")
    ask(mock_provider, thinking={"type": "enabled", "budget_tokens": 1024})
    [request] = mock_provider.requests
    assert request.body == {**BODY, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    assert (request.method, request.path) == ("POST", "/v1/messages")
    assert request.headers["x-api-key"] == "test-key"


def test_answers_are_replayed_byte_by_byte(mock_provider: MockProvider) -> None:
    mock_provider.replay([b"da", b"ta: {}\r\n", b"\n"], headers={"request-id": "r1"})
    mock_provider.replay(b"{}", status=413, content_type="application/json")
    mock_provider.replay(b"data: 1\n\n", ending="reset")
    first = ask(mock_provider)
    assert (first.content, first.headers["request-id"]) == (b"data: {}\r\n\n", "r1")
    assert ask(mock_provider).status_code == 413
    with pytest.raises(httpx.TransportError):
        ask(mock_provider)
    mock_provider.replay(b"data: 1\n\n", ending="hold")
    held = HTTPConnection(urlsplit(mock_provider.url).netloc, timeout=PATIENCE)
    held.request("POST", "/v1/messages", json.dumps(BODY), {**HEADERS, "content-type": "application/json"})
    answer = held.getresponse()
    assert answer.read(9) == b"data: 1\n\n"
    held.sock.settimeout(0.1)
    with pytest.raises(TimeoutError):
        answer.read(1)
    held.close()
    assert len(mock_provider.requests) == 4


def test_every_test_gets_an_empty_provider(mock_provider: MockProvider) -> None:
    assert mock_provider.requests == []
    assert ask(mock_provider).status_code == 404
