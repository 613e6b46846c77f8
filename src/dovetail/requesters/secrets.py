"""Keeps keys out of every text that people may see."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from dovetail.data.mask import MASK

SHORTEST = 8
"""What is shorter is a word that local servers take for a key ("none", "EMPTY", "ollama"), not a secret."""

_USER_IN_ADDRESS = re.compile(r"//[^/\s:@]*:[^/\s@]+@")
_TELLING = ("auth", "key", "token", "secret", "cookie", "password")


def find_secrets(api_key: str | None, headers: Mapping[str, str], addresses: Iterable[str]) -> list[str]:
    """The texts that must not be shown: the key, headers that sound like one, passwords in addresses."""
    found = [api_key or ""]
    for name, value in headers.items():
        if any(word in name.lower() for word in _TELLING):
            found += [value, value.rpartition(" ")[2]]
    for address in addresses:
        password = urlsplit(address).password or ""
        found += [password, unquote(password)]
    return sorted({secret for secret in found if len(secret) >= SHORTEST}, key=len, reverse=True)


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def hide_passwords(text: str) -> str:
    """The text without users and passwords in its addresses: a proxy of the environment may have some."""
    return _USER_IN_ADDRESS.sub(f"//{MASK}@", text)


def show_address(address: str) -> str:
    """An address without the user, password and query in it, also when it lacks its beginning."""
    if "//" not in address:
        return address.rpartition("@")[2]
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
