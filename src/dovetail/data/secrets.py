"""Keep secrets out of every text and record that people may see.

Known secrets (from settings, headers and addresses) are replaced wherever they turn up; in structured data
the values of keys that name a secret are masked.
"""

import base64
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from dovetail.data.known_secrets import MASK, hide_known, protect
from dovetail.data.layered import LayeredData
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.template import fill_text
from dovetail.data.text import cut

T = TypeVar("T")

SHORTEST = 8
"""Shorter values are words that local servers accept as a key ("none", "EMPTY", "ollama"), not secrets."""

_SHORTEST_KNOWN = 4
_LONGEST_TEXT = 500
_MOST_VALUES = 1000

_USER_IN_ADDRESS = re.compile(r"//[^/\s:@]*:[^/\s@]+@")
_LOOKS_SECRET = re.compile(r"(?i)(\bbearer\s+)[^\s\"']+|\bsk-[A-Za-z0-9_-]{8,}")
_SIGNATURE = re.compile(r"(?i)(\bsignature=)[^\s\"'&,;]+")
_SHORTEST_PART = 16
_SECRET_HEADERS = ("auth", "key", "token", "secret", "cookie", "password")
_MODEL_KEY = re.compile(r"_A(PI|D)_(KEY|TOKEN)$|^AWS_(SECRET|SESSION|BEARER)_")
_MODEL_ADDRESS = re.compile(r"_BASE_URL$|^OLLAMA_HOST$|^AZURE_OPENAI_ENDPOINT$")
_FOLDER_VARIABLE = "DOVETAIL_EXTENSIONS_"
_SECRET_KEY = re.compile(
    r"(?i)(pass(word|wd|phrase)|secret|token(?!s|_?count|_?limit|iz)|api[_-]?key|private[_-]?key|access[_-]?key|auth(orization)?$"
    r"|cookie|credential|bearer|signature|\bpin\b)"
)

_NAMES_PLACE = re.compile(r"(?i:[_-](name|id|file|path))$|[a-z](Name|Id|ID|File|Path)$")


def hide(text: str, secrets: Iterable[str]) -> str:
    """Return the text with the secrets masked."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def hide_traces(text: str, secrets: Iterable[str]) -> str:
    """Return the text of an error with the secrets masked, and what shows a part of one.

    A part is 16 characters of a secret or of what it is backwards or in base64; signatures are masked too.
    """
    for secret in secrets:
        text = text.replace(secret, MASK)
        for form in (secret, secret[::-1], base64.b64encode(secret.encode()).decode().rstrip("=")):
            text = _hide_parts(text, form)
    return _SIGNATURE.sub(rf"\1{MASK}", text)


def _hide_parts(text: str, form: str) -> str:
    for start in range(len(form) - _SHORTEST_PART + 1):
        if form[start : start + _SHORTEST_PART] in text:
            longest = next(end for end in range(len(form), start, -1) if form[start:end] in text)
            text = text.replace(form[start:longest], MASK)
    return text


def hide_passwords(text: str) -> str:
    """Return the text with users and passwords in its addresses masked: a proxy's address may have some."""
    return _USER_IN_ADDRESS.sub(f"//{MASK}@", text)


def show_address(address: str) -> str:
    """Return an address without its user, password and query, also if its scheme is missing."""
    if "//" not in address:
        return address.rpartition("@")[2]
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@dataclass(frozen=True, slots=True)
class SecretMask:
    """Replaces known secrets, and text that looks like a key, by `***`."""

    pattern: re.Pattern[str] | None

    @classmethod
    def of(cls, settings: LayeredData) -> "SecretMask":
        """Return a mask for all secrets that the settings hold now."""
        return cls.for_values(find_settings_secrets(settings))

    @classmethod
    def for_values(cls, values: Iterable[str]) -> "SecretMask":
        """Return a mask for these values; very short ones would tear texts apart and are ignored."""
        known = sorted({value for value in values if len(value) >= _SHORTEST_KNOWN}, key=len, reverse=True)
        return cls(re.compile("|".join(map(re.escape, known))) if known else None)

    def apply(self, text: str) -> str:
        """Return the text with secrets masked."""
        if self.pattern is not None:
            text = self.pattern.sub(MASK, text)
        text = hide_known(text)
        return _LOOKS_SECRET.sub(lambda found: f"{found[1] or ''}{MASK}", text)


def find_secrets(api_key: str | None, headers: Mapping[str, str], addresses: Iterable[str]) -> list[str]:
    """Return the texts that must not be shown: the key, headers that hold one, passwords in addresses."""
    found = [api_key or ""]
    for name, value in headers.items():
        if names_secret(name):
            found += [value, value.rpartition(" ")[2]]
    for address in addresses:
        found += _find_password(address)
    return sorted({secret for secret in found if len(secret) >= SHORTEST}, key=len, reverse=True)


def names_secret(header: str) -> bool:
    """Return whether a header carries a secret, by its name."""
    return any(word in header.lower() for word in _SECRET_HEADERS)


def names_secret_key(key: str) -> bool:
    """Return whether the value of a key is a secret, by the key's name."""
    return _SECRET_KEY.search(key) is not None


def names_secret_argument(key: str) -> bool:
    """Return whether an argument is a secret, by its name; the name or the path of a secret is none."""
    return names_secret_key(key) and _NAMES_PLACE.search(key) is None


def protect_settings(settings: LayeredData) -> None:
    """Mask the secrets of the settings from now on in all that tools return, in errors and in logs."""
    protect(find_settings_secrets(settings))


def find_settings_secrets(settings: LayeredData) -> Iterator[str]:
    """Yield the keys, tokens and passwords in the settings, and the keys of models in the environment."""
    yield _fill(settings.get("server.admin_token"))
    for pair in _fill(settings.get("server.api_keys")).split(","):
        yield pair.partition(":")[2].strip()
    for key in ("store.url", "runs.dbos_url"):
        yield from _find_password(_fill(settings.get(key)))
    yield _fill(settings.get("runs.temporal_api_key"))
    yield from _find_in_environment()
    for part in _list_parts(settings, "model.providers", settings.get("model")):
        yield _fill(part.get("api_key"))
        yield from _read_texts(part, "headers").values()
        yield from _find_password(_fill(part.get("base_url")))
        yield from _find_password(_fill(part.get("proxy")))
    for part in _list_parts(settings, "extensions"):
        yield from (_fill(value) for name, value in part.items() if names_secret_key(str(name)))
    for part in _list_parts(settings, "mcp.servers"):
        given = {**_read_texts(part, "headers"), **_read_texts(part, "env")}
        yield from find_secrets(None, given, [_fill(part.get("url"))])


def _find_in_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        is_key = _MODEL_KEY.search(name) or (name.startswith(_FOLDER_VARIABLE) and names_secret_key(name))
        if is_key and len(value) >= SHORTEST:
            yield value
        elif _MODEL_ADDRESS.search(name):
            yield from _find_password(value)


def _list_parts(settings: LayeredData, key: str, *more: Any) -> list[Mapping[str, Any]]:
    named = settings.get(key)
    return [part for part in (*more, *(named.values() if is_mapping(named) else ())) if is_mapping(part)]


def _read_texts(part: Mapping[str, Any], key: str) -> dict[str, str]:
    texts = part.get(key)
    return {str(name): _fill(text) for name, text in texts.items()} if is_mapping(texts) else {}


def _fill(text: Any) -> str:
    """Return a text as it is used: with variables of the environment filled in."""
    return fill_text(str(text or ""), os.environ)


def _find_password(address: Any) -> tuple[str, ...]:
    """Return the password in an address, and the login as a header carries it."""
    try:
        password = urlsplit(str(address or "")).password or ""
        return password, unquote(password), encode_login(str(address or ""))
    except ValueError:  # not an address
        return ()


def encode_login(address: str) -> str:
    """Return the user and password in an address as a `Basic` header carries them; empty without a user."""
    parts = urlsplit(address)
    if parts.username is None:
        return ""
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return base64.b64encode(login.encode()).decode()


def mask_secrets(value: Any) -> Any:
    """Return the value with secrets masked by their keys at any depth, and long texts and lists cut."""
    return _Masker().mask(value)


def mask_call(arguments: Any) -> Any:
    """Do the same with the arguments of a call: objects are shown, since the caller chooses their keys."""
    return _CallMasker().mask(arguments)


class _Masker:
    """Masks one value; of a huge value only the first members are looked at."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def mask(self, value: Any) -> Any:
        if is_mapping(value):
            return self._mask_mapping(value)
        if is_list(value):
            return self._mask_list(value, self.mask)
        return _cut(value) if isinstance(value, str) else value

    def _mask_list(self, value: Sequence[Any], mask: Callable[[Any], Any]) -> list[Any]:
        masked = [mask(item) for item in self._take(value)]
        return masked if len(masked) == len(value) else [*masked, _count_rest(len(value) - len(masked))]

    def _mask_member(self, key: str, item: Any) -> Any:
        return MASK if names_secret_key(key) else self.mask(item)

    def _mask_mapping(self, value: Mapping[Any, Any]) -> dict[Any, Any]:
        masked = {_cut(key): self._mask_member(str(key), item) for key, item in self._take(value.items())}
        if len(masked) < len(value):
            masked["…"] = _count_rest(len(value) - len(masked))
        return masked

    def _take(self, members: Iterable[T]) -> Iterator[T]:
        for member in members:
            if not self._left:
                return
            self._left -= 1
            yield member


class _CallMasker(_Masker):
    """Masks texts, numbers and items of lists, never an object."""

    def _mask_member(self, key: str, item: Any) -> Any:
        return self._hide(item) if names_secret_argument(key) else self.mask(item)

    def _hide(self, value: Any) -> Any:
        if is_list(value):
            return self._mask_list(value, self._hide)
        return self.mask(value) if is_mapping(value) else MASK


def _cut(text: Any) -> Any:
    if not isinstance(text, str) or len(text) <= _LONGEST_TEXT:
        return text
    return f"{cut(text, _LONGEST_TEXT)} ({len(text)} characters)"


def _count_rest(number: int) -> str:
    return f"… ({number} more)"
