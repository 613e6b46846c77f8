"""The error tree and the names by which clients know its classes."""

import copy
import importlib
import inspect
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dovetail
from dovetail.data.text import report_error
from dovetail.errors import DovetailError, ModelError, PassingModelError, TransientModelError
from dovetail.prompt.rejection import PromptValidationError, reject

_SOURCE = Path(dovetail.__file__).parent
_ERROR = re.compile(r"^class \w+\(.*Error\b.*\):$", re.MULTILINE)


def test_a_renamed_error_keeps_its_wire_type() -> None:
    assert report_error(TransientModelError("busy", provider="x"))["type"] == "passing_model_error"
    assert PassingModelError is TransientModelError


def test_an_error_is_known_by_the_name_of_its_class() -> None:
    class FlatTyreError(TransientModelError):
        pass

    assert (DovetailError.wire_name, ModelError.wire_name) == ("DovetailError", "ModelError")
    assert FlatTyreError.wire_name == "FlatTyreError"


def _list_errors(base: type[DovetailError]) -> Iterator[type[DovetailError]]:
    if base.__module__.startswith("dovetail."):
        yield base
    for kind in base.__subclasses__():
        yield from _list_errors(kind)


def _list_all() -> list[type[DovetailError]]:
    for path in _SOURCE.rglob("*.py"):
        if _ERROR.search(path.read_text(encoding="utf-8")):
            importlib.import_module(".".join(["dovetail", *path.relative_to(_SOURCE).with_suffix("").parts]))
    return sorted(set(_list_errors(DovetailError)), key=lambda kind: kind.__qualname__)


def _make(kind: type[DovetailError]) -> DovetailError:
    if issubclass(kind, PromptValidationError):
        return reject("options", object(), "options must be a mapping")
    values: dict[str, Any] = {}
    for base in kind.__mro__:
        if "__init__" in vars(base):
            names = list(inspect.signature(base).parameters)[1:]
            values |= {name: f"the {name}" for name in names if name != "details"}
            if "details" not in names:  # which are those of a base class
                break
    return kind("It failed.", **values)


def _send(error: DovetailError) -> DovetailError:
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("kind", _list_all(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("travel", [_send, copy.copy, copy.deepcopy])
def test_every_error_keeps_its_attributes_on_the_way_to_another_process(kind: Any, travel: Any) -> None:
    error = _make(kind)
    error.add_note("Seen in a worker.")
    arrived = travel(error)
    assert type(arrived) is kind
    assert (str(arrived), repr(arrived), arrived.args) == (str(error), repr(error), error.args)
    assert vars(arrived) == vars(error)
