"""Find the region and the credentials of an AWS account: in the environment, or wherever boto3 finds them.

boto3 reads profiles, single sign-on and the roles of machines and containers, and renews what expires. It is
asked in a thread, since it may read files or the network.
"""

import asyncio
import importlib.util
import os
import re
import threading
from functools import lru_cache
from typing import Any

from dovetail.errors import ConfigError, ModelError
from dovetail.lazy import install_command, lazy
from dovetail.requesters.bedrock.signature import Credentials

boto3 = lazy("boto3", extra="bedrock")
REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
FILES = {"AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials", "AWS_CONFIG_FILE": "~/.aws/config"}
SOURCES = (
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
"""Variables that name a source of credentials that boto3 can read."""
_ADDRESS = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")
_ARN = re.compile(r"arn:[a-z-]+:[a-z-]+:([a-z0-9-]+):")
_lock = threading.Lock()


def find_region(address: str, model: str, *, has_key: bool = False) -> str:
    """Return the region of an address, else of the environment, of the model's ARN, or of AWS's own settings.

    With an API key, no credentials are needed.

    Raises:
        ConfigError: the address needs a region, and none is set.
    """
    if found := _ADDRESS.search(address):
        return found[1]
    for variable in REGION_VARIABLES:
        if region := os.environ.get(variable):
            return region
    if found := _ARN.match(model):
        return found[1]
    if has_boto3() and (region := _open_session().region_name):
        return region
    if "{region}" not in address:
        return "us-east-1"  # an address of the user's own, such as a proxy
    hint = "Set AWS_REGION to a region such as us-east-1."
    if has_key or has_credentials():
        raise ConfigError(f"Missing AWS region for bedrock:{model}.", hint=hint)
    raise ConfigError(
        f"Missing AWS region and credentials for bedrock:{model}.", hint=f"{hint} {_name_credentials()}"
    )


async def find_credentials(model: str) -> Credentials:
    """Return the credentials for the next request.

    Raises:
        ConfigError: none are set.
        ModelError: they cannot be read or renewed.
    """
    found = _read_environment()
    if found is None and has_boto3():
        found = await asyncio.to_thread(_ask_boto3, model)
    if found is None:
        raise ConfigError(
            f"Missing AWS credentials for bedrock:{model}.",
            hint=_name_credentials(),
        )
    return found


def _name_credentials() -> str:
    """Return where credentials can be set."""
    further = "Or log in: aws sso login" if has_boto3() else f"For profiles: {install_command('bedrock')}"
    return f"Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. {further}"


def has_credentials() -> bool:
    """Return whether credentials are likely to be found, without looking for them in files or networks."""
    return _read_environment() is not None or (
        has_boto3() and (any(map(os.environ.get, SOURCES)) or any(map(os.path.exists, _list_files())))
    )


@lru_cache(maxsize=1)
def has_boto3() -> bool:
    """Return whether boto3 is installed."""
    return importlib.util.find_spec("boto3") is not None


def forget_sessions() -> None:
    """Forget boto3's sessions, so that profiles and files are read again."""
    _make_session.cache_clear()


def _list_files() -> list[str]:
    return [os.path.expanduser(os.environ.get(variable) or usual) for variable, usual in FILES.items()]


def _read_environment() -> Credentials | None:
    access, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    return Credentials(access, secret, os.environ.get("AWS_SESSION_TOKEN")) if access and secret else None


@lru_cache(maxsize=8)
def _make_session(profile: str | None) -> Any:
    return boto3.Session(profile_name=profile)


def _open_session() -> Any:
    profile = os.environ.get("AWS_PROFILE")
    try:
        with _lock:  # one session per profile, so that renewed credentials are shared
            return _make_session(profile)
    except Exception as error:
        raise ConfigError(f"Cannot use the AWS profile {profile!r}: {error}.") from None


def _ask_boto3(model: str) -> Credentials | None:
    session = _open_session()
    try:
        with _lock:
            found = session.get_credentials()
        frozen = None if found is None else found.get_frozen_credentials()
    except Exception as error:  # whatever renewing them may raise
        raise ModelError(
            f"Cannot get AWS credentials for bedrock:{model}: {error}",
            provider="bedrock",
            hint="Log in again: aws sso login",
        ) from None
    return None if frozen is None else Credentials(frozen.access_key, frozen.secret_key, frozen.token)
