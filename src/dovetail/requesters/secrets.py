"""Keeps keys out of every text that people may see."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from dovetail.data.shapes import is_mapping
from dovetail.data.template import fill_text
from dovetail.data.text import MASK
from dovetail.settings import Settings

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


_SHORTEST = 4
_LOOKS_SECRET = re.compile(r"(?i)(\bbearer\s+)[^\s\"']+|\bsk-[A-Za-z0-9_-]{8,}")


@dataclass(frozen=True, slots=True)
class SecretMask:
    """Replaces known secrets, and what looks like a key, by `***`."""

    pattern: re.Pattern[str] | None

    @classmethod
    def of(cls, settings: Settings) -> "SecretMask":
        """A mask for all secrets that the settings hold now."""
        return cls.for_values(find_settings_secrets(settings))

    @classmethod
    def for_values(cls, values: Iterable[str]) -> "SecretMask":
        """A mask for these values; very short ones would tear texts apart and are left out."""
        known = sorted({value for value in values if len(value) >= _SHORTEST}, key=len, reverse=True)
        return cls(re.compile("|".join(map(re.escape, known))) if known else None)

    def apply(self, text: str) -> str:
        """The text without secrets."""
        if self.pattern is not None:
            text = self.pattern.sub(MASK, text)
        return _LOOKS_SECRET.sub(lambda found: f"{found[1] or ''}{MASK}", text)


def find_settings_secrets(settings: Settings) -> Iterator[str]:
    """Keys, tokens and passwords in the settings."""
    yield str(settings.get("server.admin_token") or "")
    for pair in str(settings.get("server.api_keys") or "").split(","):
        yield pair.partition(":")[2].strip()
    yield from _find_password(settings.get("store.url"))
    for part in _list_parts(settings, "model.providers", settings.get("model")):
        yield str(part.get("api_key") or "")
        yield from _read_texts(part, "headers").values()
        yield from _find_password(part.get("base_url"))
        yield from _find_password(part.get("proxy"))
    for part in _list_parts(settings, "mcp.servers"):
        given = {**_read_texts(part, "headers"), **_read_texts(part, "env")}
        yield from find_secrets(None, given, [str(part.get("url") or "")])


def _list_parts(settings: Settings, key: str, *more: Any) -> list[Mapping[str, Any]]:
    named = settings.get(key)
    return [part for part in (*more, *(named.values() if is_mapping(named) else ())) if is_mapping(part)]


def _read_texts(part: Mapping[str, Any], key: str) -> dict[str, str]:
    """The texts under a key, as they are used: with what stands in the environment."""
    texts = part.get(key)
    if not is_mapping(texts):
        return {}
    return {str(name): fill_text(str(text), os.environ) for name, text in texts.items()}


def _find_password(address: Any) -> tuple[str, str]:
    password = urlsplit(str(address or "")).password or ""
    return password, unquote(password)
