"""Finds what the settings keep secret, and masks it in texts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from dovetail.data.shapes import is_mapping
from dovetail.settings import Settings

MASK = "***"
_SHORTEST = 4
_LOOKS_SECRET = re.compile(r"(?i)(\bbearer\s+)[^\s\"']+|\bsk-[A-Za-z0-9_-]{8,}")


@dataclass(frozen=True, slots=True)
class SecretMask:
    """Replaces known secrets, and what looks like a key, by `***`."""

    pattern: re.Pattern[str] | None

    @classmethod
    def of(cls, settings: Settings) -> "SecretMask":
        """A mask for all secrets that the settings hold now."""
        return cls.for_values(find_secrets(settings))

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


def find_secrets(settings: Settings) -> Iterator[str]:
    """Keys, tokens and passwords in the settings."""
    yield str(settings.get("server.admin_token") or "")
    for pair in str(settings.get("server.api_keys") or "").split(","):
        yield pair.partition(":")[2].strip()
    password = urlsplit(str(settings.get("store.url") or "")).password or ""
    yield from (password, unquote(password))
    providers: Mapping[str, Any] = settings.get("model.providers") or {}
    for part in (settings.get("model"), *providers.values()):
        if is_mapping(part):
            yield str(part.get("api_key") or "")
            headers = part.get("headers")
            yield from (str(value) for value in headers.values()) if is_mapping(headers) else ()
