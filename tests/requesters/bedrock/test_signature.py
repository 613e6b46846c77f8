"""A signature is the one that botocore computes, for every kind of path, query, header and body."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore import auth, awsrequest
from botocore.credentials import Credentials as BotocoreCredentials
from hypothesis import given
from hypothesis import strategies as some

from dovetail.requesters.bedrock.signature import Credentials, Request, sign

NOW = datetime(2026, 11, 16, 12, 34, 56, tzinfo=UTC)


def sign_with_botocore(request: Request, credentials: Credentials, monkeypatch: Any) -> dict[str, str]:
    keys = BotocoreCredentials(credentials.access_key, credentials.secret_key, credentials.token)
    monkeypatch.setattr(auth, "get_current_datetime", lambda: NOW.replace(tzinfo=None))
    theirs = awsrequest.AWSRequest(request.method, request.url, dict(request.headers), request.body)
    auth.SigV4Auth(keys, "bedrock", "eu-central-1").add_auth(theirs)
    return {name.lower(): value for name, value in theirs.headers.items()}


def sign_here(request: Request, credentials: Credentials) -> dict[str, str]:
    return sign(request, credentials, region="eu-central-1", service="bedrock", now=NOW)


@pytest.mark.parametrize("token", [None, "FwoGZXIvYXdzE//with+signs=="])
@pytest.mark.parametrize(
    "url",
    [
        "https://bedrock-runtime.eu-central-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse-stream",
        "https://bedrock-runtime.eu-central-1.amazonaws.com:443/model/x/converse",
        "http://127.0.0.1:8080/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A1%3Ainference-profile%2Fx.y/converse",
        "http://127.0.0.1:8080",
        "https://example.com/a%20b/c~d?z=1&a=%2F&empty=&a=2",
    ],
)
def test_signature_equals_that_of_botocore(
    url: str, token: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token)
    request = Request(url=url, headers={"content-type": "application/json"}, body='{"é": 1}'.encode())
    ours, theirs = sign_here(request, credentials), sign_with_botocore(request, credentials, monkeypatch)
    assert ours["authorization"] == theirs["authorization"]
    assert ours["x-amz-date"] == theirs["x-amz-date"] == "20261116T123456Z"
    assert ours.get("x-amz-security-token") == token


@given(some.binary(max_size=200), some.text(min_size=1, max_size=20), some.sampled_from(["GET", "POST"]))
def test_signature_of_any_body_equals_that_of_botocore(body: bytes, secret: str, method: str) -> None:
    credentials = Credentials("AKID", secret.encode("utf-8", "replace").decode())
    url = "https://example.com/model/x/converse"
    request = Request(method=method, url=url, headers={"content-type": "application/json"}, body=body)
    with pytest.MonkeyPatch.context() as patch:
        theirs = sign_with_botocore(request, credentials, patch)
    assert sign_here(request, credentials)["authorization"] == theirs["authorization"]


def test_other_headers_are_kept_and_not_signed() -> None:
    headers = {"content-type": "application/json", "x-team": "blue"}
    request = Request(url="https://example.com/", headers=headers, body=b"")
    signed = sign_here(request, Credentials("AKID", "secret"))
    assert signed["x-team"] == "blue"
    assert "SignedHeaders=content-type;host;x-amz-date," in signed["authorization"]


def test_secret_is_not_shown() -> None:
    shown = repr(Credentials("AKID", "top-secret", "a-token"))
    assert "top-secret" not in shown
    assert "a-token" not in shown
