"""The address and the headers of an endpoint."""

import pytest

from dovetail import Agent
from dovetail.errors import ModelError
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.version import __version__
from model_servers import Answer, Received, run_server, send_json


def test_user_in_the_address_is_sent_as_a_header_and_not_in_the_address() -> None:
    endpoint = Endpoint(model="m", base_url="https://ann:ge%20heim@h.test/v1?tenant=1")
    assert endpoint.join("models?page=2") == "https://h.test/v1/models?page=2&tenant=1"
    assert endpoint.build_headers({})["authorization"] == "Basic YW5uOmdlIGhlaW0="


def test_key_and_own_header_win_over_the_user_in_the_address() -> None:
    endpoint = Endpoint(model="m", base_url="https://ann:geheim@h.test/v1", headers={"X-Team": "blue"})
    headers = endpoint.build_headers({"authorization": "Bearer key"})
    assert (headers["authorization"], headers["x-team"]) == ("Bearer key", "blue")


def test_header_of_the_user_in_the_address_is_masked_when_a_server_repeats_it() -> None:
    def refuse(received: Received) -> Answer:
        return send_json(
            {"error": {"message": f"Wrong: {received.headers['authorization']}, {received.path}"}}, 400
        )

    with run_server(refuse) as server:
        address = server.url.replace("//", "//ann:ge%20heim@")
        agent = Agent(model="openai:gpt-4.1", settings={"model": {"base_url": address}})
        with pytest.raises(ModelError) as caught:
            agent.input("Hello").start()
        assert server.requests[0].headers["authorization"] == "Basic YW5uOmdlIGhlaW0="
    assert "Wrong: Basic ***, /chat" in caught.value.message


@pytest.mark.parametrize(
    ("headers", "sent"), [({}, f"dovetail/{__version__}"), ({"User-Agent": "shop/1"}, "shop/1")]
)
def test_provider_reads_whose_request_it_is(headers: dict[str, str], sent: str) -> None:
    with run_server(lambda received: send_json({"error": {"message": "no"}}, 400)) as server:
        agent = Agent(model="openai:m", settings={"model": {"base_url": server.url, "headers": headers}})
        with pytest.raises(ModelError):
            agent.input("Hello").start()
        assert server.requests[0].headers["user-agent"] == sent
