"""A server's answer to the request for its models, in all the ways it may fail."""

import socket

import pytest

from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.openai.requester import OpenAIRequester
from dovetail.requesters.probe import probe
from model_servers import Answer, run_server, send_json


def connect(url: str) -> HttpRequester:
    return OpenAIRequester(Endpoint(model="", base_url=f"{url}/v1", api_key="sk-secret-key"))


@pytest.mark.parametrize(
    ("answer", "state", "text", "hint"),
    [
        (send_json({"data": [{"id": "a"}, {"id": "b"}]}), "answers", "answers", ""),
        (send_json({}, 401), "key", "rejects the API key (HTTP 401)", "Set MY_KEY to a key"),
        (send_json({}, 404), "unlisted", "does not list its models (HTTP 404)", ""),
        (send_json({}, 503), "failing", "returns HTTP 503", "Try again later"),
        ((200, "text/html", b"<html>"), "page", "responds with a web page", "usually ends in /v1"),
    ],
)
async def test_answer_of_a_server_is_judged(answer: Answer, state: str, text: str, hint: str) -> None:
    with run_server(lambda _: answer) as server:
        requester = connect(server.url)
        report = await probe(requester)
        await requester.close()
    assert report.state == state
    assert text in report.text
    assert hint in report.explain(key="MY_KEY")
    assert report.models == (["a", "b"] if state == "answers" else ())
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret-key"
    assert "sk-secret" not in repr(report)


async def test_server_that_is_down_is_unreachable() -> None:
    requester = connect("http://127.0.0.1:9")
    report = await probe(requester)
    await requester.close()
    assert (report.state, report.text) == ("unreachable", "cannot be reached: Connection refused")


async def test_server_that_never_answers_is_left_after_the_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        requester = connect(f"http://127.0.0.1:{silent.getsockname()[1]}")
        report = await probe(requester, limit=0.05)
        await requester.close()
    assert (report.state, report.text) == ("unreachable", "does not answer within 0.05 s")
