"""The address and the headers of an endpoint."""

from dovetail.requesters.http.endpoint import Endpoint


def test_user_in_the_address_is_sent_as_a_header_and_not_in_the_address() -> None:
    endpoint = Endpoint(model="m", base_url="https://ann:ge%20heim@h.test/v1?tenant=1")
    assert endpoint.join("models?page=2") == "https://h.test/v1/models?page=2&tenant=1"
    assert endpoint.build_headers({})["authorization"] == "Basic YW5uOmdlIGhlaW0="


def test_key_and_own_header_win_over_the_user_in_the_address() -> None:
    endpoint = Endpoint(model="m", base_url="https://ann:geheim@h.test/v1", headers={"X-Team": "blue"})
    headers = endpoint.build_headers({"authorization": "Bearer key"})
    assert (headers["authorization"], headers["x-team"]) == ("Bearer key", "blue")
