"""Regions and credentials are found where AWS's own tools find them; a missing one is named."""

import sys
from pathlib import Path

import pytest

from dovetail.errors import ConfigError, ModelError
from dovetail.requesters.bedrock import credentials
from dovetail.requesters.bedrock.credentials import find_credentials, find_region, has_credentials
from dovetail.requesters.bedrock.signature import Credentials

ADDRESS = "https://bedrock-runtime.{region}.amazonaws.com"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No account in the environment, and empty files of AWS."""
    for name in (
        "ACCESS_KEY_ID",
        "SECRET_ACCESS_KEY",
        "SESSION_TOKEN",
        "REGION",
        "DEFAULT_REGION",
        "PROFILE",
    ):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    credentials.forget_sessions()
    return tmp_path


def test_missing_region_and_credentials_are_reported_at_once(
    monkeypatch: pytest.MonkeyPatch, clean: Path
) -> None:
    with pytest.raises(ConfigError, match="Missing AWS region and credentials for bedrock:x") as caught:
        find_region(ADDRESS, "x")
    assert "AWS_REGION" in str(caught.value.hint)
    assert "AWS_ACCESS_KEY_ID" in str(caught.value.hint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with pytest.raises(ConfigError, match="Missing AWS region for bedrock:x"):
        find_region(ADDRESS, "x")


def test_region_is_that_of_the_address_the_environment_the_arn_or_the_profile(
    monkeypatch: pytest.MonkeyPatch, clean: Path
) -> None:
    arn = "arn:aws:bedrock:us-west-2:1:inference-profile/x"
    with pytest.raises(ConfigError, match="Missing AWS region for bedrock:x"):
        find_region(ADDRESS, "x", has_key=True)
    assert find_region("http://127.0.0.1:1", "x") == "us-east-1"
    (clean / "config").write_text("[default]\nregion = sa-east-1\n")
    credentials.forget_sessions()
    assert find_region(ADDRESS, "x") == "sa-east-1"
    assert find_region(ADDRESS, arn) == "us-west-2"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    assert find_region(ADDRESS, arn) == "eu-north-1"
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    assert find_region(ADDRESS, arn) == "eu-west-3"
    assert find_region("https://bedrock-runtime-fips.us-east-2.amazonaws.com", arn) == "us-east-2"
    assert find_region("https://vpce-1.bedrock-runtime.ap-south-1.vpce.amazonaws.com", "x") == "ap-south-1"


async def test_environment_is_enough_without_boto3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "has_boto3", lambda: False)
    assert not has_credentials()
    with pytest.raises(ConfigError, match="Missing AWS credentials") as caught:
        await find_credentials("x")
    assert "install 'boto3>=1.40'" in str(caught.value.hint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert has_credentials()
    assert await find_credentials("x") == Credentials("AKID", "secret", None)


async def test_profile_is_read_by_boto3(monkeypatch: pytest.MonkeyPatch, clean: Path) -> None:
    (clean / "credentials").write_text("[team]\naws_access_key_id = A\naws_secret_access_key = s\n")
    monkeypatch.setenv("AWS_PROFILE", "team")
    assert has_credentials()
    assert await find_credentials("x") == Credentials("A", "s", None)
    monkeypatch.setenv("AWS_PROFILE", "other")
    with pytest.raises(ConfigError, match="Cannot use the AWS profile 'other'"):
        await find_credentials("x")


async def test_expired_credentials_are_renewed(monkeypatch: pytest.MonkeyPatch, clean: Path) -> None:
    # A program that prints credentials is the simplest source whose credentials expire.
    counter = clean / "count"
    counter.write_text("0")
    program = clean / "login.py"
    program.write_text(
        "import json, pathlib\n"
        f"path = pathlib.Path({str(counter)!r})\n"
        "count = int(path.read_text()) + 1\n"
        "path.write_text(str(count))\n"
        "answer = {'Version': 1, 'AccessKeyId': f'A{count}', 'SecretAccessKey': 's', 'SessionToken': 't',\n"
        "          'Expiration': '2020-01-01T00:00:00Z' if count == 1 else '2099-01-01T00:00:00Z'}\n"
        "print(json.dumps(answer))\n"
    )
    (clean / "config").write_text(f"[profile login]\ncredential_process = {sys.executable} {program}\n")
    monkeypatch.setenv("AWS_PROFILE", "login")
    first = await find_credentials("x")
    second = await find_credentials("x")
    assert (first.token, second.access_key) == ("t", "A2")
    assert counter.read_text() == "2"


async def test_credentials_that_cannot_be_renewed_are_an_error(
    monkeypatch: pytest.MonkeyPatch, clean: Path
) -> None:
    (clean / "config").write_text("[profile login]\ncredential_process = false\n")
    monkeypatch.setenv("AWS_PROFILE", "login")
    with pytest.raises(ModelError, match="Cannot get AWS credentials for bedrock:x") as caught:
        await find_credentials("x")
    assert "aws sso login" in str(caught.value.hint)
