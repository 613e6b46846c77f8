"""The arguments of a call as a person sees them who approves it: whole, but for the secrets in them.

A secret is shown as a label with a number of its own, `*** (secret 1, 8 characters)`: a text, a number or an
item of a list under a key that names a secret, and every known secret, wherever it stands. Objects are shown,
whatever their key is named. When a person has edited the arguments, each label that was left is replaced by
its own secret, also if its object has moved within a list. Promise: no secret gets to another key, or to an
item of a list with other keys, and no label is sent as if it were a value: such an edit is refused.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from dovetail.data.known_secrets import MASK, list_known
from dovetail.data.secrets import names_secret_argument
from dovetail.data.shapes import is_list, is_mapping

_NUMBER = re.compile(r"\(secret (\d+), ")
_LABEL = re.compile(rf"{re.escape(MASK)} \(secret \d+, \d+ characters?\)")
_PART = f"{MASK} (secret "
_ITEM = "[]"
_NAME = "{}"

Place: TypeAlias = tuple[str, ...]
_Text: TypeAlias = tuple[Place, frozenset[str], str]
"""A text, where it stands without positions in lists, and the keys of its object if that is in a list."""


class ShownArguments:
    """The arguments of one call: `masked` by their names, such as a preview is made from, and as `shown`.

    A value under a key that names a secret is masked in its own place only: a caller chooses keys and values,
    and one that is also the target of the call must not hide it. No text of the call looks like a label.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._secrets: dict[str, Any] = {}
        self._used = set(_NUMBER.findall(str(arguments)))
        self._number = 0
        self._known = sorted(list_known(), key=len, reverse=True)
        self.masked: dict[str, Any] = self._mask(arguments)
        self.shown: dict[str, Any] = _change(self.masked, self._mask_known)

    def restore(self, edited: Mapping[str, Any]) -> dict[str, Any]:
        """Return edited arguments with the secrets in place of their labels.

        Raises:
            ValueError: a label was moved or changed.
        """
        if problem := find_edit_problem(edited, self.shown):
            raise ValueError(problem)
        return _change(edited, self._put_back)

    def _mask(self, value: Any, *, is_secret: bool = False) -> Any:
        if is_mapping(value):
            return {
                name: self._mask(item, is_secret=names_secret_argument(str(name)))
                for name, item in value.items()
            }
        if is_list(value):
            return [self._mask(item, is_secret=is_secret) for item in value]
        return self._label(value) if is_secret and value not in (None, "", True, False) else value

    def _mask_known(self, text: str) -> str:
        for secret in self._known:
            if secret in text:
                first, *rest = text.split(secret)
                text = first + "".join(self._label(secret) + piece for piece in rest)
        return text

    def _label(self, secret: Any) -> str:
        self._number += 1
        while str(self._number) in self._used:
            self._number += 1
        length = len(str(secret))
        label = f"{_PART}{self._number}, {length} character{'s' * (length != 1)})"
        self._secrets[label] = secret
        return label

    def _put_back(self, text: str) -> Any:
        if text in self._secrets:
            return self._secrets[text]
        return _LABEL.sub(lambda found: str(self._secrets.get(found[0], found[0])), text)


def show_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with labels for the values of keys that name a secret, and for all known secrets."""
    return ShownArguments(arguments).shown


def has_labels(shown: Mapping[str, Any]) -> bool:
    """Return whether a secret is masked in arguments."""
    return any(_LABEL.search(text) for _, _, text in _walk(shown))


def find_edit_problem(edited: Mapping[str, Any], shown: Mapping[str, Any]) -> str | None:
    """Return why an edit of shown arguments cannot be used, if a label was moved or cut."""
    texts = set(_walk(shown))
    labels = {(place, keys, label) for place, keys, text in texts for label in _LABEL.findall(text)}
    for place, keys, text in _walk(edited):
        if (place, keys, text) in texts:
            continue
        is_moved = any((place, keys, label) not in labels for label in _LABEL.findall(text))
        if is_moved or _has_remains(place, _LABEL.sub("", text)):
            where = "".join(place).removesuffix(_NAME).lstrip(".")
            return (
                f"Cannot restore the masked value in `{where}`: it was changed, comes from another place, "
                "or other keys are around it now. Type the value."
            )
    return None


def _has_remains(place: Place, text: str) -> bool:
    names = [part[1:] for part in place if part.startswith(".")]
    is_secret = bool(names) and place[-1] != _NAME and names_secret_argument(names[-1])
    return _PART in text or (is_secret and text.lstrip().startswith(MASK))


def _walk(value: Any, place: Place = (), keys: frozenset[str] = frozenset()) -> Iterator[_Text]:
    """Yield all texts and names in a value."""
    if isinstance(value, str):
        yield place, keys, value
    elif is_mapping(value):
        inner = frozenset(map(str, value)) if _ITEM in place else frozenset[str]()
        for name, item in value.items():
            yield (*place, _NAME), inner, str(name)
            yield from _walk(item, (*place, f".{name}"), inner)
    elif is_list(value):
        for item in value:
            yield from _walk(item, (*place, _ITEM), keys)


def _change(value: Any, change: Callable[[str], Any]) -> Any:
    """Return the value with all its texts changed, also names."""
    if isinstance(value, str):
        return change(value)
    if is_mapping(value):
        return {str(change(str(name))): _change(item, change) for name, item in value.items()}
    return [_change(item, change) for item in value] if is_list(value) else value
